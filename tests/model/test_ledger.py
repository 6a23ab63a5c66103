"""The ledger against its model: anything in any order and multiplicity, on a real Postgres.

The model allows either of two ends that race, and nothing else that the design does not say.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from copy import deepcopy
from typing import Any, ClassVar
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.model.thread import ENDS, GONE, STATUSES, Event, RefusedError, Thread
from tests.parts.database import Template

STEPS_AT_LEAST = 10_000

runs = st.one_of(st.none(), st.integers(1, 4))
attempts = st.one_of(st.none(), st.integers(0, 4))
events = st.tuples(st.sampled_from(STATUSES), runs, attempts)
openings = st.tuples(st.sampled_from(["PENDING", "BACKOFF"]), st.integers(2, 4), st.just(0))

# What no program could read or count: refused, however it comes, and nothing of its statement is left.
POISON_ACTIONS = st.sampled_from(
    [
        "('{\"a\": ' || repeat('[', 300) || repeat(']', 300) || '}')::jsonb, null, 'noop'",
        "('{\"a\": ' || repeat('9', 5000) || '}')::jsonb, null, 'noop'",
        "jsonb_build_object('a', repeat('x', 2000000)), null, 'noop'",
        "'[1]', null, 'noop'",
        "'{}', 'infinity', 'noop'",
        "'{}', '-infinity', 'noop'",
        "'{}', null, ''",
    ]
)
POISON_EVENTS = st.sampled_from(
    [
        "'BACKOFF', null, 2147483647, now(), 1.0, null",
        "'RUNNING', 2147483647, null, now(), null, null",
        "'RUNNING', null, -1, now(), null, null",
        "'BACKOFF', null, null, 'infinity', 1.0, null",
        "'BACKOFF', null, null, '-infinity', 1.0, null",
        "'BACKOFF', null, null, now(), 'NaN', null",
        "'BACKOFF', null, null, now(), 'infinity', null",
        "'BACKOFF', null, null, now(), -1, null",
        "'INFO', null, null, now(), null, ('{\"a\": ' || repeat('[', 900) || repeat(']', 900) || '}')::jsonb",
        "'INFO', null, null, now(), null, ('{\"a\": ' || repeat('9', 5000) || '}')::jsonb",
    ]
)

INSERT = """insert into switchyard.event (action_uuid, status, run, attempt)
  select u, s::switchyard.status, r, a
  from unnest(%s::uuid[], %s::text[], %s::int[], %s::int[]) with ordinality x(u, s, r, a, n) order by n"""


class LedgerMachine(RuleBasedStateMachine):
    """Drives a fresh ledger and the model side by side."""

    template: ClassVar[Template]
    steps: ClassVar[int] = 0
    actions = Bundle("actions")

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.database = self.stack.enter_context(self.template.clone())
        self.connection = self.stack.enter_context(self.database.connect())
        self.peer = self.stack.enter_context(self.database.connect())
        self.pool = self.stack.enter_context(ThreadPoolExecutor(2))
        self.model: dict[UUID, Thread] = {}
        self.touched: set[UUID] = set()
        self.old_partition()

    def old_partition(self) -> None:
        """A stretch of the past, for what retention will take."""
        self.connection.execute(
            "select switchyard.attach_partition(parent, '2020', '2020-01-01Z', '2021-01-01Z') "
            "from unnest(array['action', 'thread', 'event']) as parent"
        )
        self.connection.execute(
            "insert into switchyard.partition_span values ('2020-01-01Z', '2021-01-01Z', '2020')"
        )

    def teardown(self) -> None:
        with self.stack:
            assert self.connection.execute("select * from switchyard.verify()").fetchall() == []

    @rule(target=actions)
    def submit(self) -> UUID:
        uuid: UUID = self._one("select switchyard.submit('noop')")
        self.model[uuid] = Thread()
        return uuid

    @rule(target=actions)
    def submit_in_the_past(self) -> UUID:
        uuid: UUID = self._one(
            "insert into switchyard.action (action_uuid, action_name) "
            "values (switchyard.uuid7('2020-06-01Z'), 'noop') returning action_uuid"
        )
        self.model[uuid] = Thread()
        return uuid

    @rule(uuid=actions, event=st.one_of(events, openings))
    def one_event(self, uuid: UUID, event: Event) -> None:
        self._insert([(uuid, event)])

    @rule(batch=st.lists(st.tuples(actions, st.one_of(events, openings)), min_size=2, max_size=6))
    def many_events(self, batch: list[tuple[UUID, Event]]) -> None:
        self._insert(batch)

    @rule(poison=POISON_ACTIONS)
    def poison_action(self, poison: str) -> None:
        """Beside a good one in the same statement, which is not left either."""
        before = self._one("select count(*) from switchyard.action")
        with pytest.raises((psycopg.DataError, psycopg.IntegrityError)):
            self.connection.execute(
                "insert into switchyard.action (parameters, start_after, action_name)"
                f" values ('{{}}', null, 'noop'), ({poison})".encode()
            )
        assert self._one("select count(*) from switchyard.action") == before

    @rule(batch=st.lists(st.tuples(actions, events), max_size=3), uuid=actions, poison=POISON_EVENTS)
    def poison_event(self, batch: list[tuple[UUID, Event]], uuid: UUID, poison: str) -> None:
        """Alone or with good ones in the same transaction: the threads stay as they were."""
        refused = (psycopg.DataError, psycopg.IntegrityError)
        with pytest.raises(refused), self.connection.transaction():  # noqa: PT012 - which of the two is refused does not matter
            if batch:
                self._write(self.connection, batch)
            self.connection.execute(
                "insert into switchyard.event (action_uuid, status, run, attempt, event_time, retry_seconds, detail)"
                f" values (%s, {poison})".encode(),
                [uuid],
            )
        self.touched |= {each for each, _ in batch if each in self.model} | ({uuid} & self.model.keys())

    @rule(uuid=actions, first=st.sampled_from(ENDS), second=st.sampled_from(ENDS))
    def two_ends_race(self, uuid: UUID, first: str, second: str) -> None:
        if uuid not in self.model:
            return
        run = self.model[uuid].run
        writes = [
            self.pool.submit(self._write, connection, [(uuid, (status, run, 1))])
            for connection, status in ((self.connection, first), (self.peer, second))
        ]
        for write in writes:
            write.result(timeout=60)
        thread = self.model[uuid]
        either = [deepcopy(thread), deepcopy(thread)]
        for possible, order in zip(either, [(first, second), (second, first)], strict=True):
            for status in order:
                possible.take((status, run, 1))
        state = self._state(uuid)
        allowed = [possible for possible in either if possible.state == state]
        assert allowed, f"{state} is neither {either[0].state} nor {either[1].state}"
        kept = self._events(uuid)
        self.model[uuid] = next((p for p in allowed if sorted(p.events) == kept), allowed[0])
        self.touched.add(uuid)

    @rule(uuid=actions)
    def retrigger(self, uuid: UUID) -> None:
        thread = self.model.get(uuid)
        if thread is None or not thread.ended or thread.status == "SUCCESSFUL":
            with pytest.raises(psycopg.Error):
                self.connection.execute("select switchyard.retrigger(%s, 'ann', 'again')", [uuid])
            return
        assert self._one("select switchyard.retrigger(%s, 'ann', 'again')", uuid) == thread.run + 1
        thread.take(("PENDING", thread.run + 1, 0))
        self.touched.add(uuid)

    @rule(uuid=actions)
    def cancel(self, uuid: UUID) -> None:
        thread = self.model.get(uuid)
        if thread is None:
            with pytest.raises(psycopg.Error, match="there is no action"):
                self.connection.execute("select switchyard.cancel(%s, 'ann', 'enough')", [uuid])
            return
        assert self._one("select switchyard.cancel(%s, 'ann', 'enough')", uuid) == (not thread.ended)
        if not thread.ended:
            thread.take(("CANCELED", thread.run, thread.attempt))
        self.touched.add(uuid)

    @rule()
    def retention(self) -> None:
        """Not a precondition: who won a race decides what is left, and what is drawn next must not depend on that."""
        old = {uuid for uuid in self.model if uuid.int >> 80 < 1_609_459_200_000}
        if not old:
            return
        [(suffix, dropped, reason)] = self.connection.execute(
            "select * from switchyard.drop_partitions('2021-06-01Z')"
        ).fetchall()
        still_open = sum(not self.model[uuid].ended for uuid in old)
        assert (suffix, dropped) == ("2020", still_open == 0)
        if still_open:
            assert reason == f"{still_open} threads have not ended, 0 have callbacks due"
            return
        for uuid in old:
            del self.model[uuid]
            self.touched.discard(uuid)
        self.old_partition()

    @invariant()
    def the_ledger_agrees(self) -> None:
        type(self).steps += 1
        for uuid in self.touched:
            assert self._state(uuid) == self.model[uuid].state
            assert self._events(uuid) == sorted(self.model[uuid].events)
        self.touched.clear()

    def _insert(self, batch: list[tuple[UUID, Event]]) -> None:
        after = deepcopy(self.model)
        try:
            for uuid, event in batch:
                after.get(uuid, GONE).take(event)
        except RefusedError:
            with pytest.raises((psycopg.errors.CheckViolation, psycopg.errors.ForeignKeyViolation)):
                self._write(self.connection, batch)
        else:
            self._write(self.connection, batch)
            self.model = after
        self.touched |= {uuid for uuid, _ in batch if uuid in self.model}

    @staticmethod
    def _write(connection: psycopg.Connection[Any], batch: list[tuple[UUID, Event]]) -> None:
        columns: list[list[object]] = [
            list(c) for c in zip(*((u, *event) for u, event in batch), strict=True)
        ]
        connection.execute(INSERT, columns)

    def _one(self, statement: str, *values: object) -> Any:
        return self.connection.execute(statement.encode(), values).fetchall()[0][0]

    def _state(self, uuid: UUID) -> tuple[Any, ...]:
        [row] = self.connection.execute(
            "select status::text, run, attempt, tries from switchyard.thread where action_uuid = %s", [uuid]
        ).fetchall()
        return row

    def _events(self, uuid: UUID) -> list[tuple[Any, ...]]:
        """Sorted by content: ids are given out in advance, so two connections' do not tell who came first."""
        rows = self.connection.execute(
            "select status::text, run, attempt, ignored from switchyard.event where action_uuid = %s", [uuid]
        ).fetchall()
        return sorted(rows)


@pytest.fixture(autouse=True)
def _on(template: Template) -> None:
    LedgerMachine.template, LedgerMachine.steps = template, 0


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("examples", "at_least"),
    [(25, 1_000), pytest.param(130, STEPS_AT_LEAST, marks=pytest.mark.slow)],  # some examples end early
)
def test_the_ledger_does_what_the_model_predicts(examples: int, at_least: int) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(
        LedgerMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=100,
            deadline=None,
            suppress_health_check=checks,
            database=None,
        ),
    )
    assert LedgerMachine.steps >= at_least
