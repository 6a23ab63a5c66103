"""Odd JSON, times and events by plain SQL against running programs: nothing stops, bystanders end, odd rows end or are refused."""

import json
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.deployment.deployment import Deployment
from tests.parts.database import Database
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
NAMES = st.sampled_from(["drill", "hook", "run"])
STATUSES = ("PENDING", "QUEUED", "RUNNING", "BACKOFF", "INFO", "SUCCESSFUL", "FAILED", "CANCELED", "TIMED_OUT",
            "INVALID", "RETRIES_EXHAUSTED")  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NUMBERS = st.one_of(
    st.integers(-(10**18), 10**18).map(str),
    st.integers(1, 400).map(lambda digits: "9" * digits),
    st.integers(-500, 500).map(lambda power: f"1e{power}"),
    st.just("-0.0"),
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
ACTION = st.tuples(NAMES, ODD_JSON, CALLBACKS, TIMES, st.sampled_from([None, "work", "no such workflow"]))
EVENT = st.tuples(
    st.sampled_from(STATUSES), TIMES, COUNTS, COUNTS, rarely(st.one_of(st.none(), st.floats(0, 1)), st.floats()),
    ODD_JSON, TEXT,
)  # fmt: skip
INSERT_ACTION = """
    insert into switchyard.action (action_name, parameters, callbacks, start_after, workflow, action_type, correlation_id)
    values (%s, %s::jsonb, %s::jsonb, %s::timestamptz, %s, case when %s::text is null then 'callback' else 'workflow' end, 'odd')
    returning action_uuid
"""
INSERT_EVENT = """
    insert into switchyard.event (action_uuid, status, event_time, run, attempt, retry_seconds, detail, error)
    values (%s, %s, coalesce(%s::timestamptz, now()), %s, %s, %s, %s::jsonb, %s)
"""
# Of what was accepted: all that has neither ended nor waits for a time that is to come, or for a person's decision.
STUCK = """
    select t.action_uuid, t.status::text, t.next_attempt_after from switchyard.thread t join switchyard.action a using (action_uuid)
    where a.correlation_id = 'odd' and t.ended_at is null and t.status in ('PENDING', 'BACKOFF')
      and coalesce(t.next_attempt_after, now()) <= now()
"""
ACCEPTED = """
    select (select count(*) from switchyard.action where correlation_id = 'odd'),
      (select count(*) from switchyard.event e join switchyard.action a using (action_uuid) where a.correlation_id = 'odd' and e.source not in ('conductor', 'caboose'))
"""
INBOX = """
    select count(*) from switchyard.thread t join switchyard.action a using (action_uuid)
    where a.correlation_id = 'odd' and t.status > 'SUCCESSFUL' and t.status <> 'CANCELED' and t.error is not null
      and not exists (select from switchyard.inbox i where i.action_uuid = t.action_uuid)
"""
REFUSED = (psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError, psycopg.OperationalError)


@pytest.fixture
def deployment(tmp_path: Path, database: Database) -> Iterator[Deployment]:
    """A conductor and a caboose, running."""
    config = {**CONFIG, "store": f"file://{tmp_path}/store"}
    config["actions"] = {**CONFIG["actions"], "run": {"type": "local", "spool": str(tmp_path / "spool")}}
    with closing(Deployment(database, tmp_path, config)) as made:
        for name in ("conductor", "caboose"):
            made.program(name).start()
        made.registered(4)
        yield made


@pytest.mark.timeout(600)
def test_odd_rows_stop_nobody(deployment: Deployment) -> None:
    examples = settings(
        max_examples=25,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )

    @examples
    @given(st.lists(st.tuples(ACTION, st.lists(EVENT, min_size=1, max_size=4)), min_size=1, max_size=4))
    def odd(rows: list[tuple[tuple[Any, ...], list[tuple[Any, ...]]]]) -> None:
        with deployment.database.connect() as connection:
            for action, events in rows:
                _written(connection, action, events)
        bystanders = [*deployment.ledger.insert("drill", 2), deployment.ledger.submit("run", workflow="work")]
        until(lambda: deployment.ledger.statuses(*bystanders) == ["SUCCESSFUL"] * 3, 60)
        assert all(program.running() for program in deployment.programs)

    odd()
    [(actions, events)] = deployment.database.execute(ACCEPTED)
    assert min(actions, events) >= 5, "most is odd without being refused"
    until(lambda: deployment.database.execute(STUCK) == [], 60)
    until(lambda: deployment.database.execute(INBOX) == [(0,)], 60)
    assert deployment.database.execute(
        "select count(*) from switchyard.worker where lost_at is not null"
    ) == [(0,)]


def _written(
    connection: psycopg.Connection[Any], action: tuple[Any, ...], events: list[tuple[Any, ...]]
) -> None:
    """As far as the ledger accepts it."""
    with suppress(*REFUSED):
        [(uuid,)] = connection.execute(INSERT_ACTION, [*action, action[-1]]).fetchall()
        for event in events:
            _event(connection, uuid, event)


def _event(connection: psycopg.Connection[Any], uuid: UUID, event: tuple[Any, ...]) -> None:
    with suppress(*REFUSED):
        connection.execute(INSERT_EVENT, [uuid, *event])
