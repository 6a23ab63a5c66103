"""What the pages show in the tests: every status, every kind of trouble, and hostile text wherever a user can put any."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from uuid import UUID

from switchyard.places import Places
from switchyard.store import Store
from switchyard.transcript import transcript_key
from tests.parts.database import Database

# Ends an attribute and an element, and runs where it is not escaped; an expression where a template is evaluated twice.
HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{ 6*7 }}</textarea>"

ERRORS = ("exit code 4: no overlap with the area", "503 Service Unavailable of the catalogue")


@dataclass
class Scene:
    """The ids of what the pages show."""

    database: Database
    jobs: dict[str, UUID] = field(default_factory=dict)
    entry: int = 0

    def at(self, path: str) -> str:
        """The path with the ids of this scene."""
        return path.format(**self.jobs, CAMPAIGN=quote(HOSTILE, safe=""), ENTRY=self.entry)

    def submit(self, name: str, **given: Any) -> UUID:
        """A job, by the function that clients call."""
        [[uuid]] = self.database.execute(
            "select switchyard.submit(%s, %s, workflow => %s, correlation_id => %s, idempotency_key => %s)",
            *(name, json.dumps(given.get("parameters", {})), given.get("workflow", "nutrient")),
            *(given.get("correlation_id"), given.get("key")),
        )
        return UUID(str(uuid))

    def retrigger(self, uuid: UUID, actor: str, reason: str) -> None:
        """Open the next run; nobody makes callbacks here, so there are none to wait for."""
        self.database.execute("select switchyard.callbacks_made(%s, 1)", uuid)
        self.database.execute("select switchyard.retrigger(%s, %s, %s)", uuid, actor, reason)

    def event(
        self, uuid: UUID, status: str, error: str | None = None, run: int = 1, attempt: int = 1
    ) -> None:
        """A step of that action."""
        self.database.execute(
            "insert into switchyard.event (action_uuid, status, run, attempt, source, error, retry_seconds)"
            " values (%s, %s, %s, %s, 'conductor', %s, case when %s = 'BACKOFF' then 3600 end)",
            *(uuid, status, run, attempt, error, status),
        )


def set_up(database: Database, store: Store) -> Scene:
    """A yard with jobs in every status, a pause, a worker that is lost, and names that attack the page."""
    scene = Scene(database)
    _processes(database)
    for status in (
        "QUEUED",
        "RUNNING",
        "BACKOFF",
        "SUCCESSFUL",
        "FAILED",
        "TIMED_OUT",
        "INVALID",
        "RETRIES_EXHAUSTED",
    ):
        uuid = scene.jobs[status] = scene.submit("shell", parameters={"sites": 3, "edition": "C"})
        if status not in ("QUEUED", "INVALID"):
            scene.event(uuid, "QUEUED")
        if status not in ("QUEUED", "BACKOFF", "INVALID"):
            scene.event(uuid, "RUNNING")
        error = (
            None
            if status in ("QUEUED", "RUNNING", "SUCCESSFUL")
            else f"exit code 1: {status.lower()} on the way"
        )
        scene.event(uuid, status, error) if status != "RUNNING" else None
    scene.jobs["PENDING"] = scene.submit("shell", parameters={"bbox": [-1.9, 51.7, -1.4, 52.0]})
    scene.jobs["CANCELED"] = scene.submit("shell")
    database.execute("select switchyard.cancel(%s, 'ops', 'wrong area')", scene.jobs["CANCELED"])
    again = scene.jobs["AGAIN"] = scene.submit("shell", correlation_id="request-7")
    scene.event(again, "QUEUED")
    scene.event(again, "FAILED", "worker lost: no beat for 30 s")
    scene.retrigger(again, "ops", "the node is back")
    scene.event(again, "QUEUED", run=2)
    scene.event(again, "SUCCESSFUL", run=2)
    _result(scene, store, "RESULT", "Land at Aldermouth")
    _graph(scene)
    _hostile(scene, store)
    _fleet(database)
    _campaigns(scene)
    _schedules(database)
    _reusable(scene)
    [[scene.entry]] = database.execute(
        "insert into switchyard.journal (kind, subject, reason, needs_review) values ('unreadable', %s, %s, true) returning entry_id",
        *(HOSTILE, HOSTILE),
    )
    return scene


def _processes(database: Database) -> None:
    """What can be submitted; both have coordinates."""
    about = {"title": HOSTILE, "description": HOSTILE}
    schema = {"type": "object", "properties": {"bbox": {"type": "array", "description": HOSTILE}}}
    database.execute(
        "insert into switchyard.route (workflow, action_name, about) values ('nutrient', 'shell', %s), (%s, %s, %s)",
        json.dumps({"title": "Nutrient loads", "input": schema}),
        *(HOSTILE, HOSTILE, json.dumps({**about, "input": schema})),
    )
    rule = {"version": "7", "key": ["$.tile"], "for": 3600, "shared": False}
    database.execute(
        "insert into switchyard.route (workflow, action_name, reuse) values ('tiles', 'shell', %s)",
        json.dumps(rule),
    )


def _reusable(scene: Scene) -> None:
    """Two results that later jobs would be given."""
    made = [scene.submit("shell", workflow="tiles", parameters={"tile": tile}) for tile in "ab"]
    scene.database.execute("select switchyard.settle_reuse(100)")
    for uuid in made:
        scene.event(uuid, "SUCCESSFUL")
    scene.database.execute("select switchyard.settle_reuse(100)")


def _graph(scene: Scene) -> None:
    """A graph of which one step runs, one is held and one failed; one of its names attacks the page."""
    node = {"workflow": "nutrient", "action_name": "shell"}
    after = {
        "search": [],
        "ingest": ["search"],
        "gauges": ["search"],
        "classify": ["ingest"],
        "mosaic": ["classify"],
        "exposure": ["mosaic", "gauges"],
        HOSTILE: ["mosaic"],
        "notify": ["exposure", HOSTILE],
    }
    nodes = {name: {**node, "after": before} for name, before in after.items()}
    made = scene.database.execute(
        "select name, action_uuid from switchyard.submit_graph(%s)", json.dumps({"nodes": nodes})
    )
    steps = {name: UUID(str(uuid)) for name, uuid in made}
    for name in ("search", "ingest", "gauges"):
        scene.event(steps[name], "RUNNING")
    scene.event(steps["search"], "SUCCESSFUL")
    scene.event(steps["ingest"], "SUCCESSFUL")
    scene.event(steps["gauges"], "FAILED", "504 Gateway Timeout of the gauges")
    scene.event(steps["classify"], "RUNNING")
    scene.jobs["GRAPH"] = steps["classify"]


def _result(scene: Scene, store: Store, name: str, text: str) -> None:
    """A job that ended well: output, files, a log, and callbacks of which one is not delivered."""
    uuid = scene.jobs[name] = scene.submit("shell", correlation_id="sample-1", parameters={"edition": text})
    for status in ("QUEUED", "RUNNING", "SUCCESSFUL"):
        scene.event(uuid, status)
    places = Places(uuid, 1)
    features = [_site(number, text) for number in range(6)]
    files = [
        {"name": file, "key": f"{places.folder}/{file}", "sha256": "0" * 64}
        for file in ("report.html", f"{text[:20]}.csv")
    ]
    output = {"summary": {"sites": 6, "n_total": 2437.28, text: text}, "features": features, "files": files}
    store.put(places.output, json.dumps(output).encode())
    store.put(places.log, f"6 of 6 sites in scope: {text}\n".encode())
    for file in files:
        store.put(file["key"], f"<!doctype html><title>Report</title><h1>Report</h1><p>{text}</p>".encode())
    for number, answer in enumerate((204, 204, 503)):
        _callback(scene, store, uuid, text if number else "done", answer, text)


def _site(number: int, text: str) -> dict[str, Any]:
    x, y = -1.75 + number / 50, 51.88 - number / 90
    ring = [[x, y], [x + 0.01, y], [x + 0.012, y + 0.01], [x, y + 0.008], [x, y]]
    properties = {
        "name": f"{text} {number}",
        "dwellings": 40 * number,
        "n_total": 216.86 * (number - 1),
        text: text,
    }
    return {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "properties": properties,
    }


def _callback(scene: Scene, store: Store, parent: UUID, name: str, status: int, text: str) -> None:
    [[uuid]] = scene.database.execute(
        "insert into switchyard.action (action_name, callback, parent_uuid) values ('webhook', %s, %s) returning action_uuid",
        *(name, parent),
    )
    key = transcript_key(uuid, 1, 1)
    request = {
        "method": "POST",
        "url": f"https://hooks.example/{text}",
        "headers": {"x-text": text},
        "body": text,
    }
    response = {"status": status, "reason": text, "headers": {"x-text": text}, "body": text}
    transcript = {"run": 1, "attempt": 1, "seconds": 0.008, "request": request, "response": response}
    store.put(key, json.dumps(transcript).encode())
    scene.database.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt, source, error, retry_seconds, detail)"
        " values (%s, %s, 1, 1, 'conductor', %s, %s, %s)",
        *(uuid, "SUCCESSFUL" if status < 300 else "BACKOFF", None if status < 300 else f"{status} {text}"),
        *(None if status < 300 else 3600, json.dumps({"transcript": {"key": key, "line": 0}})),
    )


def _hostile(scene: Scene, store: Store) -> None:
    _result(scene, store, "HOSTILE_RESULT", HOSTILE)
    uuid = scene.jobs["HOSTILE"] = scene.submit(
        HOSTILE, workflow=HOSTILE, parameters={HOSTILE: HOSTILE}, correlation_id=HOSTILE, key=HOSTILE
    )
    scene.event(uuid, "QUEUED")
    scene.event(uuid, "FAILED", HOSTILE)
    scene.retrigger(uuid, HOSTILE, HOSTILE)
    scene.event(uuid, "FAILED", HOSTILE, run=2)
    scene.submit(HOSTILE, workflow=HOSTILE, parameters={"bbox": [-3.1, 51.0, -2.2, 51.7]})
    scene.database.execute("select switchyard.pause(%s, %s, %s)", HOSTILE, HOSTILE, HOSTILE)


def _lanes(database: Database) -> None:
    """Two customers of an action name with limits, one of them held back."""
    flow = {"flow": "deliver", "action_name": "deliver", "lane_in_flight": 2, "lane_rate": 5, "lane_burst": 5}
    database.execute("select switchyard.announce_flows(%s)", json.dumps([flow]))
    for lane in ("north", HOSTILE):
        database.execute("select switchyard.submit('deliver', lane => %s)", lane)
        database.execute(
            "insert into switchyard.lane (flow, lane, seq, state, vtime, in_flight, since, factor)"
            " values ('deliver', %s, 1, 'full', 0, 2, now() - interval '5 minutes', 0.25)",
            lane,
        )


def _fleet(database: Database) -> None:
    _lanes(database)
    database.execute("select switchyard.pause('stac', 'ops', 'the catalogue is being migrated')")
    database.execute(
        "insert into switchyard.worker (kind, action_name, host, version, pid, beat_at, lost_at, state) values"
        " ('conductor', 'shell', 'yard-a', '0.1.0', 4711, now(), null, '{}'),"
        " ('conductor', 'webhook', 'yard-a', '0.1.0', 4711, now(), null, '{\"breaker_factor\": 0.01}'),"
        " ('caboose', null, 'yard-b', '0.1.0', 4712, now(), null, '{}'),"
        " ('assessment', null, 'yard-c', '0.1.0', 4713, now() - interval '9 minutes', now() - interval '8 minutes', '{}'),"
        " ('conductor', %s, %s, %s, 4714, now(), null, %s)",
        *(HOSTILE, HOSTILE, HOSTILE, json.dumps({HOSTILE: HOSTILE})),
    )


def _campaigns(scene: Scene) -> None:
    """One that goes on, with failures of two causes; one with hostile texts that is paused; one that ended well."""
    for name, items in (("spring", 40), (HOSTILE, 3), ("winter", 2)):
        [[campaign]] = scene.database.execute(
            "select switchyard.start_campaign(%s, %s, 30, workflow => 'nutrient')",
            *(name, json.dumps({"file": name})),
        )
        page = [{"id": f"item-{number}", "parameters": {}} for number in range(items)]
        scene.database.execute("select switchyard.feed(%s, '{}', %s, '{}', true)", campaign, json.dumps(page))
        scene.database.execute("select * from switchyard.submit_items(30)")
        members = scene.database.execute(
            "select action_uuid from switchyard.action where member_of = %s", campaign
        )
        for number, [uuid] in enumerate(members[:20] if name != HOSTILE else members[:1]):
            error = (
                None if name == "winter" or number > 4 else name if name == HOSTILE else ERRORS[number % 2]
            )
            scene.event(uuid, "FAILED" if error else "SUCCESSFUL", error)
    scene.database.execute("select * from switchyard.settle_sets(100)")
    scene.database.execute("select switchyard.pause_campaign(%s, %s, %s)", HOSTILE, HOSTILE, HOSTILE)


def _schedules(database: Database) -> None:
    for name, cron in (("nightly", "0 2 * * *"), (HOSTILE, "*/5 * * * *")):
        late = {"catch_up_window": 3600, "jitter": 0}
        known = {**late, "parameters": {}, "priority": 100, "overlap": "skip", "catch_up": "last"}
        content = {"workflow": "nutrient", "action_name": "shell", "cron": cron, "timezone": "UTC", **known}
        database.execute(
            "select switchyard.apply_schedule(%s, %s, now() + interval '1 hour', 0, %s)",
            *(name, json.dumps(content), HOSTILE),
        )
