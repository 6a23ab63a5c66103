"""Two connections at once: one is held in the middle of its transaction and the other runs into it."""

from concurrent.futures import ThreadPoolExecutor
from random import Random
from uuid import UUID

import psycopg
import pytest

from tests.integration.ledger.ledger import Ledger, behind, claim, locks_held, write_event
from tests.parts.database import Database

pytestmark = pytest.mark.database

EVENT = "insert into switchyard.event (action_uuid, status, run, attempt) values (%s, %s, %s, %s)"


@pytest.mark.parametrize(("first", "second"), [("QUEUED", "RUNNING"), ("RUNNING", "QUEUED")])
def test_queued_against_running_is_running(ledger: Ledger, first: str, second: str) -> None:
    uuid = ledger.submit()
    with ledger.database.connect(autocommit=False) as one, ledger.database.connect() as other:
        write_event(one, uuid, first, 1, 1)
        behind(ledger.database, one, other, EVENT, uuid, second, 1, 1)
    assert ledger.state(uuid) == ("RUNNING", 1, 1)
    assert ledger.events(uuid) == [(first, False), (second, second == "QUEUED")]


@pytest.mark.parametrize(("first", "second"), [("SUCCESSFUL", "FAILED"), ("CANCELED", "SUCCESSFUL")])
def test_of_two_ends_the_first_to_get_the_lock_counts(ledger: Ledger, first: str, second: str) -> None:
    uuid = ledger.submit()
    with ledger.database.connect(autocommit=False) as one, ledger.database.connect() as other:
        write_event(one, uuid, first, 1, 1)
        behind(ledger.database, one, other, EVENT, uuid, second, 1, 5)
    assert ledger.state(uuid) == (first, 1, 1)
    assert ledger.events(uuid) == [(first, False), (second, True)]


def test_a_late_end_of_the_run_before_changes_nothing_after_a_retrigger(ledger: Ledger) -> None:
    uuid = ledger.submit()
    ledger.event(uuid, "FAILED", 1, 1)
    with ledger.database.connect(autocommit=False) as one, ledger.database.connect() as other:
        one.execute("select switchyard.retrigger(%s, 'ann', 'try again')", [uuid])
        behind(ledger.database, one, other, EVENT, uuid, "SUCCESSFUL", 1, 1)
    assert ledger.state(uuid) == ("PENDING", 2, 0)
    assert ledger.events(uuid)[-1] == ("SUCCESSFUL", True)


def test_two_retriggers_at_once_open_one_run(ledger: Ledger) -> None:
    uuid = ledger.submit()
    ledger.event(uuid, "FAILED", 1, 1)
    retrigger = "select switchyard.retrigger(%s, 'bob', 'me too')"
    with ledger.database.connect(autocommit=False) as one, ledger.database.connect() as other:
        one.execute("select switchyard.retrigger(%s, 'ann', 'try again')", [uuid])
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="only one that ended"):
            behind(ledger.database, one, other, retrigger, uuid)
    assert ledger.state(uuid) == ("PENDING", 2, 0)


def test_a_cancel_during_a_claim_counts_and_the_outcome_is_ignored(ledger: Ledger) -> None:
    uuid = ledger.submit()
    with ledger.database.connect(autocommit=False) as admin, ledger.database.connect() as conductor:
        admin.execute("select switchyard.cancel(%s, 'ann', 'not needed')", [uuid])
        assert claim(conductor) == [uuid]
        behind(ledger.database, admin, conductor, EVENT, uuid, "SUCCESSFUL", 1, 1)
        assert claim(conductor) == []
    assert ledger.state(uuid) == ("CANCELED", 1, 0)
    assert ledger.events(uuid) == [("CANCELED", False), ("SUCCESSFUL", True)]


def test_of_a_batch_only_what_was_canceled_meanwhile_is_ignored(ledger: Ledger) -> None:
    first, canceled, last = sorted(ledger.submit() for _ in range(3))
    batch = """insert into switchyard.event (action_uuid, status, run, attempt)
      select u, 'SUCCESSFUL', 1, 1 from unnest(array[%s, %s, %s]::uuid[]) as u"""
    with ledger.database.connect(autocommit=False) as admin, ledger.database.connect() as conductor:
        admin.execute("select switchyard.cancel(%s, 'ann', 'not needed')", [canceled])
        behind(ledger.database, admin, conductor, batch, first, canceled, last)
    assert ledger.state(first) == ledger.state(last) == ("SUCCESSFUL", 1, 1)
    assert ledger.state(canceled) == ("CANCELED", 1, 0)
    assert ledger.events(canceled) == [("CANCELED", False), ("SUCCESSFUL", True)]
    assert ledger.connection.execute("select count(*) from switchyard.yard").fetchall() == [(0,)]


def test_of_a_batch_a_rank_that_was_passed_meanwhile_is_ignored(ledger: Ledger) -> None:
    first, passed, last = sorted(ledger.submit() for _ in range(3))
    batch = """insert into switchyard.event (action_uuid, status, run, attempt)
      select u, 'QUEUED', 1, 1 from unnest(array[%s, %s, %s]::uuid[]) as u"""
    with ledger.database.connect(autocommit=False) as caboose, ledger.database.connect() as conductor:
        write_event(caboose, passed, "RUNNING", 1, 1)
        behind(ledger.database, caboose, conductor, batch, first, passed, last)
    assert ledger.state(first) == ledger.state(last) == ("QUEUED", 1, 1)
    assert ledger.state(passed) == ("RUNNING", 1, 1)


def test_an_event_of_a_run_that_is_being_opened_waits_for_it(ledger: Ledger) -> None:
    uuid = ledger.submit()
    ledger.event(uuid, "FAILED", 1, 1)
    with ledger.database.connect(autocommit=False) as admin, ledger.database.connect() as other:
        admin.execute("select switchyard.retrigger(%s, 'ann', 'try again')", [uuid])
        behind(ledger.database, admin, other, EVENT, uuid, "RUNNING", 2, 1)
    assert ledger.state(uuid) == ("RUNNING", 2, 1)


def test_a_canceled_action_is_never_claimed(ledger: Ledger) -> None:
    uuid = ledger.submit()
    ledger.connection.execute("select switchyard.cancel(%s, 'ann', 'not needed')", [uuid])
    assert ledger.claim() == []
    assert locks_held(ledger.connection) == 0


def test_one_idempotency_key_from_32_connections_makes_one_action(ledger: Ledger) -> None:
    def submit(_: int) -> UUID:
        with ledger.database.connect() as connection:
            return Ledger(ledger.database, connection).submit("hook", idempotency_key="order-7")

    with ThreadPoolExecutor(32) as pool:
        uuids = set(pool.map(submit, range(32)))
    assert len(uuids) == 1
    assert ledger.connection.execute("select count(*) from switchyard.action").fetchall() == [(1,)]


def test_a_key_whose_submit_rolls_back_is_free_for_the_one_that_waited(ledger: Ledger) -> None:
    submit = "select switchyard.submit('hook', idempotency_key => 'k')"
    with ledger.database.connect(autocommit=False) as one, ledger.database.connect() as other:
        one.execute(submit)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(lambda: other.execute(submit).fetchall())
            one.rollback()
            [(uuid,)] = waiting.result(timeout=60)
    assert ledger.state(uuid) == ("PENDING", 1, 0)


def test_bulk_submits_with_the_same_keys_in_other_orders_do_not_deadlock(database: Database) -> None:
    bulk = """select array_agg(action_uuid order by place) from switchyard.submit_many((
      select jsonb_agg(jsonb_build_object('action_name', 'hook', 'idempotency_key', 'k' || n) order by n * %s)
      from generate_series(1, 200) as n))"""

    def submit(turn: int) -> frozenset[UUID]:
        with database.connect() as connection:
            row = connection.execute(bulk, [1 if turn % 2 else -1]).fetchone()
            assert row is not None
            return frozenset(row[0])

    with ThreadPoolExecutor(8) as pool:
        results = set(pool.map(submit, range(24)))
    assert len(results) == 1
    assert len(results.pop()) == 200


def test_plain_inserts_with_the_same_keys_in_other_orders_do_not_deadlock(database: Database) -> None:
    bulk = """insert into switchyard.action (action_name, idempotency_key)
      select 'hook', 'k' || n from generate_series(1, 200) as n order by n * %s"""

    def insert(turn: int) -> str:
        with database.connect() as connection:
            try:
                connection.execute(bulk, [1 if turn % 2 else -1])
            except psycopg.errors.UniqueViolation as error:
                return str(error).split(":", maxsplit=1)[0]
            return "inserted"

    with ThreadPoolExecutor(8) as pool:
        results = sorted(pool.map(insert, range(16)))
    assert results == ["idempotency_key"] * 15 + ["inserted"]


def test_events_for_the_same_threads_in_other_orders_do_not_deadlock(database: Database) -> None:
    database.execute(
        "insert into switchyard.action (action_name, priority) select 'x', n from generate_series(1, 100) n"
    )
    everywhere = """insert into switchyard.event (action_uuid, status, run, attempt)
      select action_uuid, 'RUNNING', 1, %s from switchyard.action order by priority * %s"""

    def write(turn: int) -> None:
        with database.connect() as connection:
            connection.execute(everywhere, [turn, -1 if turn % 2 else 1])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(1, 25)))
    assert database.execute("select distinct status::text, attempt from switchyard.thread") == [
        ("RUNNING", 24)
    ]


def test_batches_of_anything_at_once_neither_deadlock_nor_contradict_each_other(database: Database) -> None:
    """In uuid order or not, with late, doubled and plain events; the ledger is verified when the test has ended."""
    database.execute("insert into switchyard.action (action_name) select 'x' from generate_series(1, 30)")
    batch = """insert into switchyard.event (action_uuid, status, run, attempt)
      select u, s::switchyard.status, 1, a from unnest(%s::uuid[], %s::text[], %s::int[]) as e (u, s, a)"""
    uuids = sorted(uuid for (uuid,) in database.execute("select action_uuid from switchyard.action"))

    def write(seed: int) -> int:
        chance = Random(seed)
        written = 0
        with database.connect() as connection:
            for attempt in range(1, 41):
                some = [uuid for uuid in uuids if chance.random() < 0.5]
                if chance.random() < 0.3:
                    chance.shuffle(some)
                likely = 200 if attempt < 40 else 1
                statuses = chance.choices(
                    ["QUEUED", "RUNNING", "SUCCESSFUL"], [likely, likely, 1], k=len(some)
                )
                connection.execute(batch, [some, statuses, [attempt] * len(some)])
                written += len(some)
        return written

    with ThreadPoolExecutor(6) as pool:
        written = sum(pool.map(write, range(6)))
    assert database.execute("select count(*)::int from switchyard.event") == [(written,)]
    [(ends, open_, in_yard)] = database.execute(
        "select count(*) filter (where status = 'SUCCESSFUL'), count(*) filter (where status < 'SUCCESSFUL'), "
        "(select count(*) from switchyard.yard) from switchyard.thread"
    )
    assert ends + open_ == 30
    assert open_ == in_yard


def test_retention_leaves_a_partition_alone_that_a_new_event_is_written_to(ledger: Ledger) -> None:
    suffix, uuid = ledger.old_action("2024-01-01")
    ledger.event(uuid, "FAILED", 1, 1)
    drop = "select switchyard.drop_partition(%s)"
    with ledger.database.connect(autocommit=False) as admin, ledger.database.connect() as keeper:
        admin.execute("select switchyard.retrigger(%s, 'ann', 'again')", [uuid])
        assert keeper.execute(drop, [suffix]).fetchall() == [("in use, try again later",)]
        admin.commit()
        [(reason,)] = keeper.execute(drop, [suffix]).fetchall()
        assert reason == "1 threads have not ended, 0 have callbacks due"
    assert ledger.state(uuid) == ("PENDING", 2, 0)


def test_two_instances_never_maintain_partitions_at_once(ledger: Ledger) -> None:
    with ledger.database.connect(autocommit=False) as one, ledger.database.connect() as other:
        one.execute("select count(*) from switchyard.ensure_partitions(30)")
        with pytest.raises(psycopg.errors.LockNotAvailable, match="another instance"):
            other.execute("select count(*) from switchyard.ensure_partitions(30)")
        one.commit()
        assert other.execute("select count(*) from switchyard.ensure_partitions(30)").fetchall() == [(0,)]
