"""Odd JSON, times, graphs, schedules and events by plain SQL against running programs.

Nothing stops, bystanders end, pages answer, odd rows end or are refused. More examples: --hypothesis-profile=thorough.
"""

import json
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.deployment.deployment import Deployment
from tests.deployment.ready import ready
from tests.parts.database import Database
from tests.parts.ports import free_port
from tests.waiting import until

CONFIG: dict[str, Any] = {
    "actions": {
        "drill": {"type": "noop"},
        "hook": {
            "type": "http",
            "allow_networks": ["127.0.0.0/8"],
            "request": {"url": "http://127.0.0.1:1/{{ parameters.path }}"},
            "retry": {"attempts": 1},
        },
        "laned": {"type": "noop", "lane": "$.a", "limits": {"in_flight": 50, "per_lane": {"in_flight": 3}}},
        "run": {"type": "local"},
    },
    "workflows": {
        "work": {
            "action": "run",
            "template": ["/bin/true"],
            "callbacks": [{"name": "done", "action": "drill", "parameters": {"a": {"path": "$.input.a"}}}],
        }
    },
}
NAMES = st.sampled_from(["drill", "hook", "run", "laned"])
STATUSES = ("PENDING", "QUEUED", "RUNNING", "BACKOFF", "INFO", "SUCCESSFUL", "FAILED", "CANCELED", "TIMED_OUT",
            "INVALID", "RETRIES_EXHAUSTED")  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NUMBERS = st.one_of(
    st.integers(-(10**18), 10**18).map(str),
    st.integers(1, 400).map(lambda digits: "9" * digits),
    st.integers(-500, 500).map(lambda power: f"1e{power}"),
    st.sampled_from(["-0.0", "1e-308", "0." + "0" * 400 + "1"]),
)
OBJECTS = st.one_of(
    st.sampled_from(
        ["{}", '{"a": {}}', '{"path": null}', '{"path": {"a": [[], {}]}}', '{"item": [], "output": {}}']
    ),
    st.dictionaries(TEXT, TEXT, max_size=4).map(json.dumps),
    NUMBERS.map(lambda number: f'{{"a": {number}, "path": [{number}]}}'),
    st.integers(1, 150).map(lambda depth: '{"a": ' + "[" * depth + "]" * depth + "}"),
    st.integers(1, 100).map(lambda kilobytes: json.dumps({"path": "x" * 1024 * kilobytes})),
)
REFUSED_JSON = st.one_of(
    st.sampled_from(["null", "[]", "5", '""']),
    st.integers(1000, 3000).map(lambda depth: '{"a": ' + "[" * depth + "]" * depth + "}"),
    st.integers(1100, 1200).map(lambda kilobytes: json.dumps({"a": "x" * 1024 * kilobytes})),
)


def rarely(usual: Any, odd: Any) -> Any:
    """Mostly what the ledger accepts: one odd part is enough to have the whole row refused."""
    return st.one_of(usual, usual, usual, odd)


ODD_JSON = rarely(OBJECTS, REFUSED_JSON)
TIMES = rarely(
    st.one_of(st.none(), st.none(), st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1)).map(str)),  # noqa: DTZ001
    st.sampled_from(
        ["infinity", "-infinity", "4713-01-01 BC", "1969-12-31", "1970-01-01Z", "9998-12-31", "294276-12-31"]
    ),
)
CALLBACKS = rarely(
    st.one_of(
        st.none(), st.none(), OBJECTS.map(lambda each: f'[{{"name": "x", "action": "drill"}}, {each}]')
    ),
    REFUSED_JSON,
)
COUNTS = rarely(st.sampled_from([None, None, 1]), st.integers(-1, 2**31 - 1))


def one_odd(usual: Any, odd: dict[str, Any]) -> Any:
    """The usual fields, one of them replaced: several odd ones would have nearly every row refused."""
    fields = st.sampled_from(sorted(odd)).flatmap(lambda field: odd[field].map(lambda value: {field: value}))
    return st.tuples(usual, fields).map(lambda parts: {**parts[0], **parts[1]})


KINDS = st.sampled_from(
    [("drill", None), ("hook", None), ("laned", None), ("run", "work"), ("run", "no such workflow")]
)
PLAIN = {"parameters": "{}", "callbacks": None, "start": None, "priority": 100, "lane": None, "tags": None, "key": None, "policy": None}  # fmt: skip
ACTION = one_odd(
    st.tuples(KINDS, st.one_of(st.none(), st.none(), st.lists(st.integers(0, 2), min_size=1, max_size=3))).map(
        lambda parts: {**PLAIN, "name": parts[0][0], "workflow": parts[0][1], "after": parts[1]}
    ),
    {
        "name": NAMES, "workflow": st.sampled_from([None, "work", "no such workflow"]), "parameters": ODD_JSON, "callbacks": CALLBACKS,
        "start": TIMES, "priority": st.integers(-(2**15), 2**15 - 1), "lane": TEXT, "key": TEXT,
        "tags": st.lists(st.one_of(st.none(), TEXT), max_size=40), "after": st.lists(st.integers(-1, 3), max_size=3),
        "policy": st.sampled_from(["ended", "successful", "odd"]),
    },
)  # fmt: skip
DURATIONS = st.one_of(st.integers(0, 10**10), st.floats(allow_nan=False, allow_infinity=False))
EVERY = {"action_name": "drill", "parameters": "{}", "every": 60, "jitter": 0, "catch_up_window": 3600, "timezone": "UTC", "priority": 5,
         "overlap": "skip", "catch_up": "all"}  # fmt: skip
CRONS = st.sampled_from(["* * * * *", "0 0 30 2 *", "x", "", "@reboot", "*/0 * * * *"])
SCHEDULE = one_odd(
    st.sampled_from([EVERY, {**EVERY, "every": None, "cron": "0 0 29 2 *"}]),
    {
        "parameters": ODD_JSON, "every": DURATIONS, "jitter": DURATIONS, "catch_up_window": DURATIONS, "cron": CRONS,
        "timezone": st.sampled_from(["Nowhere", "../../etc/passwd", ""]), "priority": st.integers(-(2**15), 2**15),
        "overlap": st.sampled_from(["allow", "queue", "replace", "odd"]),
    },
)  # fmt: skip
NEXT = st.sampled_from(["now", "2020-01-01Z", "2090-01-01Z", "9997-12-31Z", "infinity", None])
ITEMS = st.lists(
    rarely(ODD_JSON.map(lambda body: f'{{"id": "{len(body)}", "parameters": {body}}}'), ODD_JSON), max_size=5
)
EVENT = one_odd(
    st.sampled_from(STATUSES).map(
        lambda status: {"status": status, "time": None, "run": None, "attempt": None, "retry": None, "detail": None, "error": "odd"}
    ),
    {
        "status": st.sampled_from(STATUSES), "time": TIMES, "run": COUNTS, "attempt": COUNTS, "retry": st.floats(), "detail": ODD_JSON,
        "error": TEXT,
    },
)  # fmt: skip
INSERT_ACTION = """
    insert into switchyard.action (action_name, parameters, callbacks, start_after, workflow, action_type, correlation_id,
      priority, lane, tags, idempotency_key, after, after_policy)
    values (%(name)s, %(parameters)s::jsonb, %(callbacks)s::jsonb, %(start)s::timestamptz, %(workflow)s,
      case when %(workflow)s::text is null then 'callback' else 'workflow' end, 'odd',
      %(priority)s, %(lane)s, %(tags)s::text[], %(key)s, %(after)s::uuid[], %(policy)s)
    returning action_uuid
"""
SCHEDULED = "select switchyard.apply_schedule(%s, %s::jsonb, %s::timestamptz, 0, 'odd')"
CAMPAIGN = """
    with c as materialized (select switchyard.start_campaign(%s, '{}', 5, action_name => %s, parameters => %s::jsonb) as id)
    select switchyard.feed(c.id, '{}', %s::jsonb, '{}', true) from c
"""
INSERT_EVENT = """
    insert into switchyard.event (action_uuid, status, event_time, run, attempt, retry_seconds, detail, error)
    values (%(uuid)s, %(status)s, coalesce(%(time)s::timestamptz, now()), %(run)s, %(attempt)s, %(retry)s, %(detail)s::jsonb, %(error)s)
"""
# Of what was accepted: all that has neither ended nor waits for a time that is to come, or for a person's decision.
STUCK = """
    select t.action_uuid, t.status::text, y.due from switchyard.thread t join switchyard.action a using (action_uuid)
    join switchyard.yard y using (action_uuid)
    where a.correlation_id = 'odd' and t.status in ('PENDING', 'BACKOFF') and coalesce(y.due, now()) <= now()
"""
ACCEPTED = """
    select 'actions', count(*) from switchyard.action where correlation_id = 'odd'
    union all select 'waiting', count(*) from switchyard.action where correlation_id = 'odd' and after is not null
    union all select 'events', count(*) from switchyard.event e join switchyard.action a using (action_uuid)
    where a.correlation_id = 'odd' and e.source not in ('conductor', 'caboose')
    union all select 'schedules', count(*) from switchyard.schedule
    union all select 'items', count(*) from switchyard.campaign_item
"""
INBOX = """
    select count(*) from switchyard.thread t join switchyard.action a using (action_uuid)
    where a.correlation_id = 'odd' and t.status > 'SUCCESSFUL' and t.status <> 'CANCELED' and t.error is not null
      and not exists (select from switchyard.inbox i where i.action_uuid = t.action_uuid)
"""
PAGES = (
    "/?f=html",
    "/jobs?limit=1000",
    "/inbox?f=html",
    "/actions?limit=1000",
    "/queues?f=html",
    "/lanes",
    "/schedules?f=html",
    "/journal",
)
REFUSED = (psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError, psycopg.OperationalError)


@pytest.fixture
def deployment(tmp_path: Path, database: Database) -> Iterator[Deployment]:
    """A conductor, a caboose and a signalbox, running."""
    port = free_port()
    seen = {"listen": {"port": port}, "access": {"anonymous": "reader"}, "health": {"port": None}}
    config = {**CONFIG, "store": f"file://{tmp_path}/store", "signalbox": seen}
    config["actions"] = {**CONFIG["actions"], "run": {"type": "local", "spool": str(tmp_path / "spool")}}
    with closing(Deployment(database, tmp_path, config)) as made:
        for name in ("conductor", "caboose", "signalbox"):
            made.program(name).start()
        made.registered(5)
        made.environ["PAGES"] = f"http://127.0.0.1:{port}"
        yield made


@pytest.fixture
def pages(deployment: Deployment) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=deployment.environ["PAGES"], timeout=60) as client:
        until(lambda: ready(deployment.environ["PAGES"]))
        yield client


@pytest.mark.timeout(600)
def test_odd_rows_stop_nobody(deployment: Deployment, pages: httpx.Client) -> None:
    names, uuids = count(), list[UUID]()

    @settings(database=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(
        st.lists(st.tuples(ACTION, st.lists(EVENT, min_size=1, max_size=4)), min_size=1, max_size=4),
        SCHEDULE, NEXT, ITEMS,
    )  # fmt: skip
    def odd(rows: list[Any], schedule: dict[str, Any], next_at: str | None, items: list[str]) -> None:
        with deployment.database.connect() as connection:
            for action, events in rows:
                uuids.extend(
                    _written(connection, {**action, "after": _after(action["after"], uuids)}, events)
                )
            name = f"odd{next(names)}"
            for statement, values in (
                (SCHEDULED, [name, _sent(schedule), next_at]),
                (CAMPAIGN, [name, schedule["action_name"], schedule["parameters"], f"[{', '.join(items)}]"]),
            ):
                with suppress(*REFUSED):
                    connection.execute(statement, values)
        bystanders = [*deployment.ledger.insert("drill", 2), *deployment.ledger.insert("laned", 1)]
        bystanders.append(deployment.ledger.submit("run", workflow="work"))
        until(lambda: deployment.ledger.statuses(*bystanders) == ["SUCCESSFUL"] * 4)
        assert all(program.running() for program in deployment.programs)
        assert {path: pages.get(path).status_code for path in PAGES} == dict.fromkeys(PAGES, 200)

    odd()
    accepted = dict(deployment.database.execute(ACCEPTED))
    assert all(accepted.values()), f"most is odd without being refused: {accepted}"
    until(lambda: deployment.database.execute(STUCK) == [])
    until(lambda: deployment.database.execute(INBOX) == [(0,)])
    assert deployment.database.execute(
        "select count(*) from switchyard.worker where lost_at is not null"
    ) == [(0,)]


def _sent(schedule: dict[str, Any]) -> str:
    """The parameters are JSON already."""
    others = {key: value for key, value in schedule.items() if key != "parameters"}
    return f'{json.dumps(others)[:-1]}, "parameters": {schedule["parameters"]}}}'


def _after(places: list[int] | None, uuids: list[UUID]) -> list[UUID | None] | None:
    """What it waits for: one of the last, nothing (null), or what is not there."""
    known = uuids[-3:]
    if places is None or not known:
        return None
    return [None if each < 0 else known[each] if each < len(known) else UUID(int=each) for each in places]


def _written(
    connection: psycopg.Connection[Any], action: dict[str, Any], events: list[dict[str, Any]]
) -> list[UUID]:
    """As far as the ledger accepts it."""
    with suppress(*REFUSED):
        [(uuid,)] = connection.execute(INSERT_ACTION, action).fetchall()
        for event in events:
            _event(connection, uuid, event)
        return [uuid]
    return []


def _event(connection: psycopg.Connection[Any], uuid: UUID, event: dict[str, Any]) -> None:
    with suppress(*REFUSED):
        connection.execute(INSERT_EVENT, {**event, "uuid": uuid})
