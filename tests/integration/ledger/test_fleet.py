"""Workers: slots, who is marked lost and whose connections are ended, and the buckets that they share."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from uuid import UUID

import psycopg
import pytest

from tests.integration.ledger.ledger import Connection, Ledger, claim, waits_for_a_lock
from tests.parts.database import Database, Template
from tests.waiting import until

pytestmark = pytest.mark.database

REGISTER = (
    "select worker_id, slots from switchyard.register_worker('conductor', 'hook', 'h', null, 1, 'v', 'c', %s)"
)
MARK = "select worker_id, terminated from switchyard.mark_lost(array[%s]::uuid[], array(select beat_at from switchyard.worker where worker_id = %s))"


@contextmanager
def worker(database: Database, slots: int = 10) -> Iterator[tuple[Connection, UUID, int]]:
    with database.connect() as session:
        [(uuid, got)] = session.execute(REGISTER, [slots]).fetchall()
        yield session, uuid, got


def room(ledger: Ledger) -> int:
    [(room,)] = ledger.connection.execute(
        "select current_setting('max_locks_per_transaction')::int * (current_setting('max_connections')::int "
        "+ current_setting('max_prepared_transactions')::int) / 4"
    ).fetchall()
    return int(room)


def test_workers_share_the_room_of_the_lock_table(ledger: Ledger) -> None:
    with (
        worker(ledger.database, room(ledger) - 100) as (_, _, first),
        worker(ledger.database, 500) as (_, _, second),
    ):
        assert (first, second) == (room(ledger) - 100, 100)


def test_hole_6_the_slots_of_a_worker_whose_session_is_gone_are_free(ledger: Ledger) -> None:
    """After a restart of the server every row was still open when its worker registered again."""
    with worker(ledger.database, room(ledger)):
        pass
    rows = "select 1 from pg_stat_activity where application_name = '' and backend_type = 'client backend' and datname = current_database()"
    until(lambda: len(ledger.connection.execute(rows).fetchall()) == 1)
    with worker(ledger.database, room(ledger)) as (_, _, slots):
        assert slots == room(ledger)
    assert ledger.connection.execute(
        "select count(*) from switchyard.worker where ended_at is null"
    ).fetchall() == [(2,)]


def test_a_silent_worker_is_marked_and_its_session_ended(ledger: Ledger) -> None:
    with worker(ledger.database) as (session, uuid, _):
        assert ledger.connection.execute(MARK, [uuid, uuid]).fetchall() == [(uuid, True)]
        with pytest.raises(psycopg.OperationalError):
            session.execute("select 1")
    assert ledger.connection.execute(MARK, [uuid, uuid]).fetchall() == []


def test_a_worker_with_a_new_heartbeat_is_left_alone(ledger: Ledger) -> None:
    with worker(ledger.database) as (session, uuid, _):
        seen = ledger.connection.execute("select beat_at from switchyard.worker").fetchall()[0][0]
        session.execute("update switchyard.worker set beat_at = clock_timestamp()")
        mark = "select count(*) from switchyard.mark_lost(array[%s]::uuid[], array[%s]::timestamptz[])"
        assert ledger.connection.execute(mark, [uuid, seen]).fetchall() == [(0,)]
        session.execute("select 1")


def test_hole_17_a_copy_of_the_database_ends_no_session_of_the_original(template: Template) -> None:
    with template.clone() as original, template.clone() as copy, worker(original) as (session, uuid, _):
        copy.execute(
            "insert into switchyard.worker (worker_id, kind, action_name, host, backend_pid) values (%s, 'conductor', 'hook', 'h', %s)",
            uuid,
            session.info.backend_pid,
        )
        assert copy.execute(MARK, uuid, uuid) == [(uuid, False)]
        assert session.execute("select 1").fetchall() == [(1,)]


@pytest.mark.parametrize(("pid", "paused"), [(1, []), (2, [("hook",)])])
def test_hole_7_a_worker_that_registered_again_does_not_count_as_lost(
    ledger: Ledger, pid: int, paused: list[object]
) -> None:
    ledger.connection.execute(
        "insert into switchyard.worker (kind, action_name, host, pid, lost_at, started_at)"
        " select 'conductor', 'hook', 'h', 1, now(), now() - interval '1 minute' from generate_series(1, 5)"
    )
    ledger.connection.execute(
        "insert into switchyard.worker (kind, action_name, host, pid) values ('conductor', 'hook', 'h', %s)",
        [pid],
    )
    ledger.connection.execute("select * from switchyard.pause_where_lost(0.2, 3, '1 day')")
    assert ledger.connection.execute("select action_name from switchyard.paused").fetchall() == paused


def test_hole_16_a_bucket_that_was_refilled_in_the_future_recovers_at_once(ledger: Ledger) -> None:
    take = "select taken from switchyard.take_tokens('hook', 10, 1, 1)"
    assert ledger.connection.execute(take).fetchall() == [(1,)]
    ledger.connection.execute(
        "update switchyard.bucket set refilled_at = now() + interval '1 hour', tokens = 0"
    )
    assert ledger.connection.execute(take).fetchall() == [(0,)]
    until(lambda: ledger.connection.execute(take).fetchall() == [(1,)])


def test_security_m4_no_other_user_can_hold_up_registration_or_maintenance(ledger: Ledger) -> None:
    with ledger.database.connect() as nobody:
        for first in (1937204079, 1937204081):
            nobody.execute("select pg_advisory_lock(%s, 1)", [first])
        ledger.connection.execute("set lock_timeout = '1s'")
        ledger.connection.execute(REGISTER, [10])
        ledger.connection.execute("select count(*) from switchyard.ensure_partitions(30)")


def test_without_a_token_the_wait_is_until_the_next_one(ledger: Ledger) -> None:
    take = "select taken, wait_seconds from switchyard.take_tokens('limited', 0.1, 2, 5)"
    assert ledger.connection.execute(take).fetchall() == [(2, 0)]
    [(taken, wait)] = ledger.connection.execute(take).fetchall()
    assert taken == 0
    assert 5 < wait <= 10


TAKE = "select taken from switchyard.take_tokens(%s, 0.0001, 3, %s)"


def test_tokens_that_are_given_back_belong_to_that_name_and_never_exceed_the_burst(ledger: Ledger) -> None:
    def taken(name: str, wanted: int) -> int:
        [(count,)] = ledger.connection.execute(TAKE, [name, wanted]).fetchall()
        return int(count)

    give = "select switchyard.give_tokens('hook', 3, %s)"
    assert (taken("hook", 3), taken("other", 3)) == (3, 3)
    ledger.connection.execute(give, [2])
    assert (taken("hook", 5), taken("other", 5)) == (2, 0)
    ledger.connection.execute(give, [9])
    assert taken("hook", 1) == 1
    assert taken("hook", 9) == 2


def test_two_that_take_tokens_at_once_take_no_more_than_there_are(ledger: Ledger) -> None:
    ledger.connection.execute("insert into switchyard.bucket values ('hook', 3, clock_timestamp())")
    with (
        ledger.database.connect(autocommit=False) as first,
        ledger.database.connect() as second,
        ThreadPoolExecutor(1) as pool,
    ):
        first.execute("select from switchyard.bucket for update")  # where another has got to
        later = pool.submit(lambda: second.execute(TAKE, ["hook", 3]).fetchall())
        waits_for_a_lock(ledger.database, second.info.backend_pid)
        first.execute("update switchyard.bucket set tokens = 1")
        first.commit()
        assert later.result(60) == [(1,)]


def test_a_full_lock_table_leaves_one_slot_and_a_lost_worker_frees_its_own(ledger: Ledger) -> None:
    with worker(ledger.database, room(ledger)) as (_, lost, _):
        with worker(ledger.database) as (_, _, slots):
            assert slots == 1
        ledger.connection.execute("update switchyard.worker set lost_at = now() where worker_id = %s", [lost])
        with worker(ledger.database) as (_, _, slots):
            assert slots == 10


def test_a_worker_that_ended_or_whose_row_is_locked_is_not_marked(ledger: Ledger) -> None:
    with worker(ledger.database) as (session, ended, _), worker(ledger.database) as (_, locked, _):
        session.execute("update switchyard.worker set ended_at = now() where worker_id = %s", [ended])
        assert ledger.connection.execute(MARK, [ended, ended]).fetchall() == []
        ledger.connection.execute("set lock_timeout = '5s'")
        with ledger.database.connect(autocommit=False) as somebody:
            somebody.execute("select from switchyard.worker where worker_id = %s for update", [locked])
            assert ledger.connection.execute(MARK, [locked, locked]).fetchall() == []
        assert ledger.connection.execute(MARK, [locked, locked]).fetchall() == [(locked, True)]


def test_all_connections_of_a_worker_are_ended_only_in_its_database(template: Template) -> None:
    with template.clone() as database, template.clone() as other, worker(database) as (_, uuid, _):
        name = f"conductor {uuid} claims"
        with (
            database.connect(application_name=name) as named,
            other.connect(application_name=name) as namesake,
        ):
            assert database.execute(MARK, uuid, uuid) == [(uuid, True)]
            with pytest.raises(psycopg.OperationalError):
                named.execute("select 1")
            assert namesake.execute("select 1").fetchall() == [(1,)]


def test_names_with_unclaimed_work(ledger: Ledger) -> None:
    for name in ("ready", "held", "paused"):
        ledger.submit(name)
    ledger.submit("overdue", start_after="2001-01-01")
    ledger.submit("later", start_after="2099-01-01")
    ledger.connection.execute("select switchyard.pause('paused', 'ann', 'storm')")
    ended = ledger.submit("ended")
    ledger.event(ended, "SUCCESSFUL", 1, 1)
    running = ledger.submit("running")
    ledger.event(running, "RUNNING", 1, 1)
    names = ["ready", "held", "paused", "overdue", "later", "ended", "running", "unknown"]
    with ledger.database.connect() as peer:
        assert len(claim(peer, 1, "held")) == 1
        due = ledger.connection.execute("select * from switchyard.due_names(%s)", [names]).fetchall()
        assert due == [("ready",), ("overdue",)]
    waiting = ledger.connection.execute("select * from switchyard.waiting_names() as n order by n").fetchall()
    assert waiting == [("held",), ("later",), ("overdue",), ("paused",), ("ready",)]


LOST = """insert into switchyard.worker (kind, action_name, host, pid, lost_at, started_at)
  select 'conductor', %s, 'h', n, case when n <= %s then now() end, now() - interval '1 hour' from generate_series(1, 10) as n"""


@pytest.mark.parametrize(
    ("ratio", "least", "within", "resumed", "paused"),
    [
        (0.29, 3, "1 day", None, True),
        (0.3, 3, "1 day", None, False),
        (0.29, 4, "1 day", None, False),
        (0.29, 3, "59 minutes", None, False),
        (0.29, 3, "1 day", "hook", False),
        (0.29, 3, "1 day", "other", True),
    ],
)
def test_a_name_is_paused_where_more_than_its_share_of_workers_is_lost(
    ledger: Ledger, ratio: float, least: int, within: str, resumed: str | None, *, paused: bool
) -> None:
    ledger.connection.execute(LOST, ["hook", 3])
    if resumed:
        for step in ("pause", "resume"):
            ledger.connection.execute(f"select switchyard.{step}(%s, 'ann', 'x')".encode(), [resumed])
    ask = "select action_name, lost, started from switchyard.pause_where_lost(%s, %s, %s)"
    found = ledger.connection.execute(ask, [ratio, least, within]).fetchall()
    assert found == ([("hook", 3, 10)] if paused else [])


def test_only_old_unclaimed_actions_end_as_unserved(ledger: Ledger) -> None:
    ledger.connection.execute(
        "insert into switchyard.action (action_uuid, action_name) select switchyard.uuid7(now() - interval '10 minutes'), 'x'"
        " from generate_series(1, 3)"
    )
    fresh = ledger.submit("x")
    unserved = "select * from switchyard.end_unserved('{}', interval '5 minutes', 10)"
    with ledger.database.connect() as peer:
        [held] = claim(peer, 1, "x")
        assert ledger.connection.execute(unserved).fetchall() == [("x", 2)]
    assert [ledger.state(each)[0] for each in (held, fresh)] == ["PENDING", "PENDING"]
