"""One bad row, lock, link or backend delays or ends itself, and nobody else."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from conductor.claim import in_parts
from conductor.dispatch.threads import LEAST, ThreadsPerName, serving
from conductor.limits.claim_size import ClaimSize
from conductor.outcomes import write
from conductor.session.arrays import Uuids
from conductor.session.open import open_session
from conductor.session.session import ANSWER_WITHIN, Session
from switchyard.config.daemons import Workers
from switchyard.handlers import Success
from switchyard.ledger.connect import connect, connect_sync
from switchyard.ledger.errors import blames_row, lacks_partition
from tests.integration.conductor.test_batches import Batches
from tests.integration.conductor.test_fence import port_of, through
from tests.integration.conductor.yard import NAME, Script, Yard, ended_once
from tests.integration.deep import reads
from tests.parts.proxy import Proxy
from tests.waiting import eventually

pytestmark = pytest.mark.database

CHECKS = (
    "select conname from pg_constraint where conrelid = 'switchyard.action'::regclass and contype = 'c'"
    " and conname like 'parameters%%'"
)


def without_limits(yard: Yard) -> None:
    """As rows were accepted by earlier versions."""
    with yard.database.connect() as connection:
        for (name,) in connection.execute(CHECKS).fetchall():
            drop = sql.SQL("alter table switchyard.action drop constraint {}")
            connection.execute(drop.format(sql.Identifier(name)))


def insert(yard: Yard, parameters: str) -> UUID:
    """An action by plain SQL, ahead of all others."""
    [[uuid]] = yard.database.execute(
        "insert into switchyard.action (action_name, priority, parameters) values (%s, 0, %s::jsonb)"
        " returning action_uuid",
        NAME,
        parameters,
    )
    return UUID(str(uuid))


def status(yard: Yard, uuid: UUID) -> tuple[str, str | None]:
    [row] = yard.database.execute(
        "select status::text, error from switchyard.thread where action_uuid = %s", uuid
    )
    return row[0], row[1]


@contextmanager
def locked(yard: Yard, *uuids: UUID) -> Iterator[psycopg.Connection[Any]]:
    """Somebody's open transaction over those threads."""
    with yard.database.connect(autocommit=False) as other:
        other.execute("select from switchyard.thread where action_uuid = any(%s) for update", (list(uuids),))
        yield other


class Statements:
    """Counts the statements of all sessions, and may do something just before one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[str] = []
        self.before: dict[str, Any] = {}
        genuine = Session.rows

        async def rows(
            session: Session, statement: LiteralString, values: Mapping[str, Any] | None = None
        ) -> list[Any]:
            self.sent.append(statement)
            if (act := self.before.pop(statement, None)) is not None:
                act()
            return await genuine(session, statement, values)

        monkeypatch.setattr(Session, "rows", rows)


HOSTILE = {
    "digits": '{"a": 1e5000}',
    "depth": '{"a": ' + "[" * 3000 + "]" * 3000 + "}",
}


@pytest.mark.parametrize("parameters", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("alone", [True, False], ids=["fast path", "search"])
async def test_hole_1_security_h1_parameters_that_python_cannot_read_end_that_action_alone(
    yard: Yard, parameters: str, alone: bool
) -> None:
    without_limits(yard)
    handler = Script()
    if alone:
        yard.start(yard.served(handler))
        await eventually(lambda: yard.armed() == 1)
    bad = insert(yard, parameters)
    good = yard.submit(5)
    if not alone:
        yard.start(yard.served(handler))
    await eventually(lambda: ended_once(yard, [bad, *good]))
    what, why = status(yard, bad)
    if parameters == HOSTILE["depth"] and reads(parameters):
        assert what == "SUCCESSFUL"
    else:
        assert what == "INVALID"
        assert why is not None
        assert why.startswith("its parameters cannot be read")
    assert yard.database.execute("select count(*) from switchyard.worker") == [(1,)]  # no session was lost


async def test_hole_33_security_h6_parameters_beyond_a_limit_end_that_action_alone(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conductor.session.jsonb.LARGEST", 1000)
    bad = insert(yard, json.dumps({"a": "b" * 2000}))
    good = yard.submit(3)
    await yard.drain(yard.served(Script()))
    assert ended_once(yard, good)
    assert status(yard, bad)[0] == "INVALID"


async def test_hole_33_an_action_that_the_server_cannot_send_ends_alone(yard: Yard) -> None:
    bad = insert(yard, "{}")
    good = yard.submit(20)
    yard.database.execute("alter function switchyard.describe(uuid[], integer[]) rename to describe_before")
    yard.database.execute(
        """
        create function switchyard.describe(p_uuids uuid[], p_runs integer[], out uuids uuid[], out workflows text[],
          out callbacks text[], out parents text[], out parameters jsonb[], out correlations text[],
          out created timestamptz[], out resumed uuid[]) language plpgsql volatile security definer as $$
        begin
          if exists (select from switchyard.action a where a.priority = 0 and a.action_uuid = any (p_uuids)) then
            raise exception 'array size exceeds the maximum allowed' using errcode = '54000';
          end if;
          select * into uuids, workflows, callbacks, parents, parameters, correlations, created, resumed
          from switchyard.describe_before(p_uuids, p_runs);
        end $$
        """
    )
    handler = Script()
    yard.start(yard.served(handler))
    await eventually(lambda: ended_once(yard, [bad, *good]))
    assert status(yard, bad)[0] == "INVALID"
    assert set(handler.seen) == set(good)
    assert yard.database.execute("select count(*) from switchyard.worker") == [(2,)]  # one session was lost


async def test_hole_21_a_slow_link_delays_a_claim_and_loses_nothing(yard: Yard) -> None:
    yard.database.execute(
        "insert into switchyard.action (action_name, parameters) select %s,"
        " jsonb_build_object('a', (select string_agg(md5(random()::text), '') from generate_series(1, 10000 + n)))"
        " from generate_series(1, 24) n",
        NAME,
    )
    handler = Script()
    with Proxy(port_of(yard.database.url)) as proxy:
        proxy.delay(0.03)  # per 64 KiB: about 2 MB/s
        yard.start(yard.served(handler, concurrency=24), url=through(proxy, yard.database.url))
        await eventually(lambda: yard.statuses() == {"SUCCESSFUL": 24}, 60)
        await yard.stop()
    assert set(handler.seen.values()) == {1}


async def test_hole_21_what_a_claim_cannot_read_in_time_is_given_back(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_parts, "WITHIN", 0.0)
    yard.submit(3)
    session = await open_session(yard.database.url, NAME)
    try:
        actions, _ = await in_parts.claim_in_parts(session, NAME, 3, Uuids.of([]), 3, ClaimSize())
        assert actions == []
        assert yard.ledger.locks() == 0
    finally:
        await session.close()


async def test_an_answer_that_keeps_coming_is_waited_for(yard: Yard) -> None:
    with Proxy(port_of(yard.database.url)) as proxy:
        connection = await connect(through(proxy, yard.database.url), application_name="test")
        session = Session(connection, answer_within=0.5)
        proxy.delay(0.02)
        began = time.monotonic()
        [[back]] = await session.rows("select repeat(md5(random()::text), 120000)")
        assert len(back) == 120_000 * 32
        assert time.monotonic() - began > 0.5
        await session.close()
    assert ANSWER_WITHIN == 3.0


@pytest.mark.breaks_ledger
async def test_hole_25_an_action_without_its_row_leaves_the_queue_alone(yard: Yard) -> None:
    gone = insert(yard, "{}")
    good = yard.submit(5)
    for table in ("event", "thread", "action"):
        with yard.database.connect() as connection:
            delete = sql.SQL("delete from switchyard.{} where action_uuid = %s").format(sql.Identifier(table))
            connection.execute(delete, (gone,))
    yard.start(yard.served(Script(), concurrency=1))
    await eventually(lambda: ended_once(yard, good))
    await eventually(lambda: not yard.database.execute("select 1 from switchyard.yard"))
    [[kind]] = yard.database.execute("select kind from switchyard.journal where needs_review")
    assert kind == "action_gone"


@pytest.mark.breaks_ledger
@pytest.mark.parametrize("delivery", ["at_least_once", "at_most_once"])
@pytest.mark.parametrize("batch", [False, True], ids=["single", "batch"])
async def test_hole_26_an_attempt_number_at_the_limit_ends_that_action_alone(
    yard: Yard, delivery: str, batch: bool
) -> None:
    bad = insert(yard, "{}")
    good = yard.submit(5)
    for table in ("thread", "yard"):
        with yard.database.connect() as connection:
            update = sql.SQL("update switchyard.{} set attempt = 2147483647 where action_uuid = %s")
            connection.execute(update.format(sql.Identifier(table)), (bad,))
    handler = Batches(lambda _: Success()) if batch else Script()
    yard.start(yard.served(handler, delivery=delivery))
    await eventually(lambda: ended_once(yard, good))
    await eventually(lambda: not yard.database.execute("select 1 from switchyard.yard"))
    await eventually(lambda: yard.ledger.locks() == 0)


async def test_hole_10_one_locked_row_does_not_starve_an_at_most_once_name(yard: Yard) -> None:
    [stuck, *others] = yard.submit(6)
    handler = Script()
    with locked(yard, stuck):
        yard.start(yard.served(handler, delivery="at_most_once", concurrency=1))
        await eventually(lambda: ended_once(yard, others))
        assert stuck not in handler.seen
    await eventually(lambda: ended_once(yard, [stuck]))
    assert set(handler.seen.values()) == {1}
    assert yard.statuses() == {"SUCCESSFUL": 6}
    assert yard.database.execute("select count(*) from switchyard.worker") == [(1,)]


async def test_hole_5_locked_rows_cost_neither_heartbeats_nor_bystanders(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = yard.submit(60)
    handler = Script()
    handler.gate.clear()
    limits = Workers.model_validate({"beat": "300ms", "lost_after": "2s"})
    yard.start(yard.served(handler, concurrency=60), workers=limits)
    await eventually(lambda: handler.flying == 60)
    statements = Statements(monkeypatch)
    with locked(yard, *stuck):
        handler.gate.set()
        others = yard.submit(5)
        await eventually(lambda: ended_once(yard, others))
        late = (
            "select max(now() - beat_at) < interval '1500 ms' from switchyard.worker where ended_at is null"
        )
        for _ in range(10):
            assert yard.database.execute(late) == [(True,)]
            await asyncio.sleep(0.1)
        written = [one for one in statements.sent if one in (write.WRITE, write.FREE_ROWS)]
        assert len(written) < 30  # not one or two for each of the 60
    await eventually(lambda: ended_once(yard, stuck))
    assert set(handler.seen.values()) == {1}


async def test_hole_23_what_was_cancelled_before_it_was_sent_at_most_once_is_not_sent(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    [cancelled, *others] = yard.submit(3)
    handler = Script()
    statements = Statements(monkeypatch)
    statements.before[write.WRITE] = lambda: yard.database.execute(
        "select switchyard.cancel(%s, 'test', 'because')", cancelled
    )
    await yard.drain(yard.served(handler, delivery="at_most_once"))
    assert set(handler.seen) == set(others)
    assert status(yard, cancelled)[0] == "CANCELED"
    assert yard.ledger.locks() == 0


@pytest.mark.breaks_ledger
async def test_hole_20_an_outcome_whose_action_was_dropped_gives_its_lock_back(yard: Yard) -> None:
    [dropped, *others] = yard.submit(3)
    handler = Script()
    handler.gate.clear()
    handler.only = dropped
    yard.start(yard.served(handler, concurrency=1))
    await eventually(lambda: handler.flying == 1)
    yard.database.execute("select switchyard.cancel(%s, 'test', 'because')", dropped)
    for table in ("event", "thread", "action"):
        with yard.database.connect() as connection:
            delete = sql.SQL("delete from switchyard.{} where action_uuid = %s").format(sql.Identifier(table))
            connection.execute(delete, (dropped,))
    handler.gate.set()
    await eventually(lambda: ended_once(yard, others))
    await eventually(lambda: yard.ledger.locks() == 0)


async def test_security_m4_a_user_who_holds_the_locks_of_actions_delays_only_those(yard: Yard) -> None:
    """The keys are derived from the ids (ADR 0122)."""
    held, others = yard.submit(30), yard.submit(30)
    with yard.database.connect() as stranger:
        stranger.execute(
            "select pg_advisory_lock(switchyard.uuid_lock(u)) from unnest(%s::uuid[]) as u", [held]
        )
        yard.start(yard.served(Script(), concurrency=5))
        await eventually(lambda: ended_once(yard, others))
        assert yard.statuses() == {"PENDING": 30, "SUCCESSFUL": 30}
    await eventually(lambda: ended_once(yard, held))


async def test_an_outcome_without_a_partition_waits_for_one_and_is_not_failed(yard: Yard) -> None:
    """The row is fine: written as FAILED the moment maintenance has created the partition, it would be lost."""
    with yard.database.connect() as connection:
        for table in ("action", "thread", "event"):
            connection.execute(
                "select switchyard.attach_partition(%s, '2020', '2020-01-01Z', '2021-01-01Z')", [table]
            )
        [(homeless,)] = connection.execute(
            "insert into switchyard.action (action_uuid, action_name, priority)"
            " values (switchyard.uuid7('2020-06-01Z'), %s, 0) returning action_uuid",
            [NAME],
        ).fetchall()
        connection.execute("alter table switchyard.event detach partition switchyard.event_2020")
        others = yard.submit(5)
        yard.start(yard.served(Script()))
        await eventually(lambda: ended_once(yard, others))
        await eventually(lambda: yard.ledger.locks() == 1)
        assert status(yard, homeless)[0] == "PENDING"
        with pytest.raises(psycopg.errors.CheckViolation) as refused:
            connection.execute(
                "insert into switchyard.event (action_uuid, status) values (%s, 'SUCCESSFUL')", [homeless]
            )
        assert lacks_partition(refused.value)
        assert not blames_row(refused.value)
        connection.execute(
            "alter table switchyard.event attach partition switchyard.event_2020 for values"
            " from (switchyard.uuid_floor('2020-01-01Z')) to (switchyard.uuid_floor('2021-01-01Z'))"
        )
    await eventually(lambda: status(yard, homeless) == ("SUCCESSFUL", None))


def test_a_violated_check_is_the_rows_fault(yard: Yard) -> None:
    for statement in (
        "insert into switchyard.action (action_name) values ('')",  # a constraint
        "insert into switchyard.event (action_uuid, status, run)"  # a trigger
        " select switchyard.submit('noop'), 'RUNNING', 7",
    ):
        with pytest.raises(psycopg.errors.CheckViolation) as refused:
            yard.database.execute(statement)
        assert blames_row(refused.value)
        assert not lacks_partition(refused.value)


async def test_a_handler_that_returns_no_outcome_fails_that_action_alone(yard: Yard) -> None:
    [odd, *others] = yard.submit(4)
    handler = Script(lambda work: None if work.uuid == odd else Success())  # type: ignore[arg-type, return-value]
    await yard.drain(yard.served(handler))
    assert ended_once(yard, others)
    assert status(yard, odd)[0] == "FAILED"


async def test_hole_15_a_name_that_fills_its_threads_delays_no_other() -> None:
    loop = asyncio.get_running_loop()
    threads = ThreadsPerName()
    loop.set_default_executor(threads)
    gate = threading.Event()

    async def call(function: Any) -> Any:
        return await asyncio.to_thread(function)

    slow = [asyncio.create_task(call(gate.wait), context=serving("slow", 2)) for _ in range(50)]
    other = asyncio.create_task(call(lambda: "answered"), context=serving("other", 2))
    assert await asyncio.wait_for(other, 60) == "answered"
    assert await asyncio.wait_for(asyncio.to_thread(lambda: "answered"), 60) == "answered"
    assert not any(task.done() for task in slow)
    assert sum("slow" in thread.name for thread in threading.enumerate()) == LEAST
    gate.set()
    await asyncio.gather(*slow)


ODD = {
    "client_encoding": "LATIN1",
    "datestyle": "German, DMY",
    "intervalstyle": "sql_standard",
    "extra_float_digits": "-15",
    "bytea_output": "escape",
    "search_path": "nowhere",
    "default_transaction_isolation": "serializable",
    "default_transaction_read_only": "on",
    "synchronous_commit": "off",
    "timezone": "Asia/Kathmandu",
    "idle_session_timeout": "100",
    "statement_timeout": "1",
}


@pytest.fixture
def odd_database(yard: Yard) -> Iterator[None]:
    """Settings of the database that nobody would expect."""
    with yard.database.connect() as connection:
        for name, value in ODD.items():
            setting = sql.SQL("alter database {} set {} = {}").format(
                sql.Identifier(connection.info.dbname), sql.Identifier(name), sql.Literal(value)
            )
            connection.execute(setting)
        yield
        for name in ODD:
            reset = sql.SQL("alter database {} reset {}").format(
                sql.Identifier(connection.info.dbname), sql.Identifier(name)
            )
            connection.execute(reset)


@pytest.mark.usefixtures("odd_database")
async def test_hole_32_and_24_settings_of_the_database_change_nothing(yard: Yard) -> None:
    with connect_sync(yard.database.url, application_name="test") as connection:
        shown = {name: connection.execute(f"show {name}").fetchone() for name in ODD}
        assert shown["synchronous_commit"] == ("on",)
        assert shown["client_encoding"] == ("UTF8",)
        assert all(shown[name] != (value,) for name, value in ODD.items())
        parameters = json.dumps({"é": "日本"})
        [uuid] = connection.execute(
            "insert into switchyard.action (action_name, parameters) values (%s, %s::jsonb) returning action_uuid",
            (NAME, parameters),
        ).fetchall()[0]
    handler = Script(lambda work: Success({"back": work.parameters["é"]}))
    await yard.drain(yard.served(handler, delivery="at_most_once"))
    assert [work.parameters for work in handler.works] == [{"é": "日本"}]
    assert handler.works[0].uuid == uuid
