"""Assessments through the ledger, SQS and S3: two workers, caboose and conductor, each killed again and again.

Sized for a test run; SWITCHYARD_STORM_JOBS and SWITCHYARD_STORM_KILLS make it as large as one likes (200 and 60
are the promise in full).
"""

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from switchyard.store import open_store
from tests.acceptance.caboose.conftest import Stations
from tests.acceptance.caboose.station import Station
from tests.integration.assessment.work.station import Station as Workshop
from tests.integration.assessment.work.station import Worker
from tests.parts.aws import AwsPart
from tests.waiting import until

JOBS = int(os.environ.get("SWITCHYARD_STORM_JOBS", "40"))
KILLS = int(os.environ.get("SWITCHYARD_STORM_KILLS", "12"))
WORK = ("-m", "assessment", "work")
# A job may be begun as often as its worker is killed.
PATIENT = {"MAX_ATTEMPTS": "1000", "SQS_VISIBILITY_TIMEOUT": "3"}
TOTAL = {"path": "$.output.summary.n_total"}
FLOWS: Mapping[str, Any] = {
    "assess": {
        "action": "run",
        "timeout": "10m",
        "callbacks": [
            {"name": "done", "action": "hook", "when": ["SUCCESSFUL"], "parameters": {"total": TOTAL}},
            {
                "name": "site",
                "action": "hook",
                "when": ["SUCCESSFUL"],
                "for": "items",
                "items": "$.output.features[:2]",
            },
            {
                "name": "alert",
                "action": "hook",
                "when": ["failed"],
                "parameters": {"why": {"path": "$.workflow.error"}},
            },
        ],
    }
}


@pytest.fixture
def environ(elasticmq: AwsPart, s3: AwsPart, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The way to the queues and to the bucket, for all programs and for this one."""
    ways = {**elasticmq.environ, **s3.environ}
    for name, value in ways.items():
        monkeypatch.setenv(name, value)
    return ways


@pytest.fixture
def workshop(elasticmq: AwsPart, s3: AwsPart, environ: dict[str, str], tmp_path: Path) -> Iterator[Workshop]:
    with closing(Workshop(elasticmq, tmp_path, open_store(f"s3://{s3.bucket()}/yard"), environ)) as made:
        made.status = elasticmq.queue()  # a standard queue: an end may be reported twice, and must count once
        yield made


@pytest.fixture
def station(stations: Stations, workshop: Workshop, environ: dict[str, str]) -> Station:
    """Conductor and caboose on the same queues and the same store as the workers."""
    queues = {"queue": workshop.queue, "status_queue": workshop.status}
    sqs = {"type": "sqs", **queues, "endpoint": workshop.part.url, "wait": "1s", "visibility": "3s"}
    return stations(
        FLOWS,
        environ=environ,
        store=workshop.store.url,
        actions={"run": sqs, "hook": {"type": "noop"}},
        conductor={"poll": "500ms"},
        # Killing is what this test does: it must not pause the names.
        workers={"beat": "1s", "lost_after": "10s", "min_lost": 1_000_000},
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_job_ends_once_whatever_is_killed(station: Station, workshop: Workshop, region: Path) -> None:
    chance = random.Random(20261116)
    expected = dict(submitted(station, region, chance))
    crew = Crew(station, workshop, region, chance)
    crew.start()
    began = time.monotonic()
    while crew.killed.total() < KILLS or station.ledger.open():
        assert time.monotonic() - began < 400, f"{station.ledger.open()} are open after {crew.killed}"
        time.sleep(chance.uniform(0.1, 0.6))  # not a wait for anything: the moment of the kill is the test
        if crew.killed.total() < KILLS:
            crew.strike()
    print(f"{len(expected)} jobs, kills {dict(crew.killed)}, {time.monotonic() - began:.0f} s")
    until(lambda: workshop.empty() and workshop.heard_out(), every=0.2)
    judge(station, expected)
    crew.end()
    locks = "select count(*) from pg_locks where locktype = 'advisory'"
    until(lambda: station.database.execute(locks) == [(0,)])


class Crew:
    """Two workers, a caboose and a conductor; whoever is killed is replaced."""

    def __init__(self, station: Station, workshop: Workshop, region: Path, chance: random.Random) -> None:
        self._station, self._workshop, self._chance = station, workshop, chance
        self._settings = {**PATIENT, "SWITCHYARD_BUNDLE": str(region / "bundle")}
        self._conductor = station.program("conductor")
        self._workers = [workshop.spawn(*WORK, **self._settings) for _ in range(2)]
        self.killed: Counter[str] = Counter()

    def start(self) -> None:
        self._conductor.start()
        self._station.caboose.start()

    def strike(self) -> None:
        """Kill one of them that is up: before that there is nothing to interrupt."""
        victim = self._chance.choice(["conductor", "caboose", "worker", "worker"])
        if victim == "worker":
            place = self._chance.randrange(2)
            if self._workers[place].health()[0] != 0:
                self._workers[place] = self._workshop.replace(self._workers[place], *WORK, **self._settings)
                self.killed[victim] += 1
            return
        program = self._conductor if victim == "conductor" else self._station.caboose
        if program.get("/livez")[0] == 200:
            program.kill()
            program.start()
            self.killed[victim] += 1

    def _healthy(self, worker: Worker) -> bool:
        return worker.health()[0] == 200

    def end(self) -> None:
        """In good order: nothing is left that would keep one of them."""
        for worker in self._workers:
            until(partial(self._healthy, worker))
            worker.send(signal.SIGTERM)
            assert worker.wait(60) == 0
        until(lambda: self._station.caboose.get("/readyz")[0] == 200)
        assert self._station.caboose.stop() == 0
        assert self._conductor.stop() == 0


def submitted(station: Station, region: Path, chance: random.Random) -> Iterator[tuple[UUID, str]]:
    """Jobs of a few sites, some of many, some that can never work; with the status each must end in."""
    sites = json.loads((region / "sites.geojson").read_text())
    many = [sites["features"][k % len(sites["features"])] for k in range(600)]
    station.store.put("uploads/many.geojson", json.dumps({**sites, "features": many}).encode())
    for number in range(JOBS):
        if number % 10 == 3:
            yield station.submit("assess", assessment="nutrient", input={"key": "uploads/none"}), "FAILED"
        elif number % 10 == 7:
            yield (
                station.submit("assess", assessment="nutrient", input={"key": "uploads/many.geojson"}),
                "SUCCESSFUL",
            )
        else:
            few = {**sites, "features": chance.sample(sites["features"], 3)}
            yield station.submit("assess", assessment="nutrient", input={"geojson": few}), "SUCCESSFUL"


def judge(station: Station, expected: Mapping[UUID, str]) -> None:
    """One end each, the right one; its archive; its callbacks, each once and delivered; nobody asks for help."""
    ends = station.database.execute(
        "select action_uuid, array_agg(e.status::text) from switchyard.event e "
        "join switchyard.action a using (action_uuid) where a.action_type = 'workflow' "
        "and e.status >= 'SUCCESSFUL' and not e.ignored group by 1"
    )
    assert {uuid: [status] for uuid, status in expected.items()} == dict(ends)
    told: dict[UUID, list[tuple[str, str]]] = {uuid: [] for uuid in expected}
    for parent, callback, parameters, status in station.database.execute(
        "select a.parent_uuid, a.callback, a.parameters, t.status::text from switchyard.action a "
        "join switchyard.thread t using (action_uuid) where a.parent_uuid is not null"
    ):
        assert status == "SUCCESSFUL"
        told[parent].append((callback, json.dumps(parameters, sort_keys=True)))
    for uuid, status in expected.items():
        assert station.store.size(f"executions/{uuid}/r1/workflow.json")
        if status == "FAILED":
            assert [callback for callback, _ in told[uuid]] == ["alert"]
        else:
            output = json.loads(station.store.get(f"executions/{uuid}/r1/output.json"))
            sites = [("site", {"item": site}) for site in output["features"][:2]]
            due = [("done", {"total": output["summary"]["n_total"]}), *sites]
            assert sorted(told[uuid]) == sorted((name, json.dumps(v, sort_keys=True)) for name, v in due)
    assert station.database.execute("select error from switchyard.inbox where kind = 'message'") == []
