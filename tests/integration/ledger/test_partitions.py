"""Partitions: made ahead, dropped whole, never while a thread in them is open."""

import threading
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import psycopg
import pytest

from tests.integration.ledger.ledger import Ledger

pytestmark = pytest.mark.database


def spans(ledger: Ledger) -> list[tuple[datetime, datetime]]:
    return ledger.connection.execute(
        "select starts_at, ends_at from switchyard.partition_span order by starts_at"
    ).fetchall()


@pytest.mark.parametrize(("interval", "days"), [("day", (1, 1)), ("week", (1, 7)), ("month", (1, 31))])
def test_they_follow_each_other_without_gaps(ledger: Ledger, interval: str, days: tuple[int, int]) -> None:
    ledger.connection.execute("update switchyard.partitioning set partition_interval = %s", [interval])
    made = ledger.connection.execute(
        "select starts_at, ends_at from switchyard.ensure_partitions(100)"
    ).fetchall()
    assert all(days[0] <= (end - start).days <= days[1] for start, end in made)
    found = spans(ledger)
    assert all(one[1] == next_one[0] for one, next_one in pairwise(found))
    assert found[0][0] <= datetime.now(UTC) - timedelta(hours=1)
    assert found[-1][1] > datetime.now(UTC) + timedelta(days=100)
    assert ledger.connection.execute("select count(*) from switchyard.ensure_partitions(100)").fetchall() == [
        (0,)
    ]


def test_an_id_finds_its_partition(ledger: Ledger) -> None:
    uuid = ledger.submit()
    today = f"{datetime.now(UTC):%Y%m%d}"
    for parent in ("action", "thread"):
        [(leaf,)] = ledger.connection.execute(
            f"select tableoid::regclass::text from switchyard.{parent} where action_uuid = %s".encode(),
            [uuid],
        ).fetchall()
        assert leaf == f"switchyard.{parent}_{today}"
    thread = ledger.thread(uuid)
    assert abs(datetime.now(UTC) - thread["created_at"]) < timedelta(minutes=1)


def test_retention_drops_what_has_ended_and_names_what_has_not(ledger: Ledger) -> None:
    for day in ("2024-01-01", "2024-01-02", "2024-01-03"):
        ledger.old_partition(day)
    insert = """insert into switchyard.action (action_uuid, action_name, action_type, workflow, idempotency_key)
      values (switchyard.uuid7(%s::timestamptz), 'x', 'workflow', 'w', %s) returning action_uuid"""
    ended, still_open, due = (
        ledger.connection.execute(insert, [f"2024-01-0{n} 12:00Z", f"key-{n}"]).fetchall()[0][0]
        for n in (1, 2, 3)
    )
    ledger.event(ended, "SUCCESSFUL", 1, 1)
    ledger.connection.execute("select switchyard.callbacks_made(%s, 1)", [ended])
    ledger.event(due, "FAILED", 1, 1)
    dropped = ledger.connection.execute(
        "select suffix, dropped, reason from switchyard.drop_partitions('2024-02-01')"
    ).fetchall()
    assert dropped == [
        ("20240101", True, None),
        ("20240102", False, "1 threads have not ended, 0 have callbacks due"),
        ("20240103", False, "0 threads have not ended, 1 have callbacks due"),
    ]
    keys = ledger.connection.execute(
        "select idempotency_key from switchyard.idempotency order by 1"
    ).fetchall()
    assert keys == [("key-2",), ("key-3",)]
    assert ledger.state(still_open)[0] == "PENDING"


def test_writers_go_on_while_partitions_are_made_and_dropped(ledger: Ledger) -> None:
    """An idle reader of an old partition makes the drop give up; it must not queue up and stop the writers."""
    stop, slowest = threading.Event(), [0.0]

    def write() -> None:
        with ledger.database.connect() as connection:
            while not stop.is_set():
                began = datetime.now(UTC)
                connection.execute("select switchyard.submit('x')")
                slowest[0] = max(slowest[0], (datetime.now(UTC) - began).total_seconds())

    [(suffix,)] = ledger.connection.execute(
        "select suffix from switchyard.partition_span order by starts_at limit 1"
    ).fetchall()
    writer = threading.Thread(target=write)
    with ledger.database.connect(autocommit=False) as reader:
        reader.execute(f"select count(*) from switchyard.thread_{suffix}".encode())
        writer.start()
        try:
            ledger.connection.execute("select count(*) from switchyard.ensure_partitions(40)")
            [(reason,)] = ledger.connection.execute(
                "select switchyard.drop_partition(%s)", [suffix]
            ).fetchall()
        finally:
            stop.set()
            writer.join()
    assert reason == "in use, try again later"
    # The promise is a moment: the lock is given up after 100 ms.
    assert slowest[0] < 5 * 0.1 + 1
    [(reason,)] = ledger.connection.execute("select switchyard.drop_partition(%s)", [suffix]).fetchall()
    assert reason is None


DROP = "select switchyard.drop_partition(%s)"


@pytest.mark.breaks_ledger
def test_hole_4_every_gap_from_yesterday_on_is_filled(ledger: Ledger) -> None:
    """A clock that was 40 days ahead for a moment had today's partitions dropped and later ones made."""
    whole = spans(ledger)
    for place in (0, 1, 3):
        suffix = f"{whole[place][0]:%Y%m%d}"
        ledger.connection.execute(
            f"drop table switchyard.event_{suffix}, switchyard.thread_{suffix}, switchyard.action_{suffix}".encode()
        )
        ledger.connection.execute("delete from switchyard.partition_span where suffix = %s", [suffix])
    ledger.connection.execute("select count(*) from switchyard.ensure_partitions(7)")
    assert spans(ledger) == whole
    ledger.submit()


def test_a_gap_between_partitions_of_another_length_is_filled_without_overlap(ledger: Ledger) -> None:
    whole = spans(ledger)
    suffix = f"{whole[3][0]:%Y%m%d}"
    ledger.connection.execute(
        f"drop table switchyard.event_{suffix}, switchyard.thread_{suffix}, switchyard.action_{suffix}".encode()
    )
    ledger.connection.execute("delete from switchyard.partition_span where suffix = %s", [suffix])
    ledger.connection.execute("select count(*) from switchyard.ensure_partitions(7, 'month')")
    assert spans(ledger)[: len(whole)] == whole


def test_mission_b2_the_interval_is_that_of_the_call(ledger: Ledger) -> None:
    made = ledger.connection.execute(
        "select ends_at - starts_at from switchyard.ensure_partitions(70, 'month')"
    ).fetchall()
    assert max(made)[0] >= timedelta(days=28)
    assert ledger.connection.execute("select partition_interval from switchyard.partitioning").fetchall() == [
        ("month",)
    ]


def test_security_l1_the_partitions_of_today_and_later_are_never_dropped(ledger: Ledger) -> None:
    reasons = ledger.connection.execute(
        "select distinct switchyard.drop_partition(suffix) from switchyard.partition_span where ends_at > now()"
    ).fetchall()
    assert reasons == [("its time has not passed yet",)]


def test_hole_25_a_partition_is_not_dropped_at_repeatable_read(ledger: Ledger) -> None:
    suffix, uuid = ledger.old_action("2024-01-01")
    ledger.event(uuid, "FAILED", 1, 1)
    with ledger.database.connect() as keeper, keeper.transaction():
        keeper.execute("set transaction isolation level repeatable read")
        keeper.execute("select count(*) from switchyard.thread")
        ledger.connection.execute("select switchyard.retrigger(%s, 'ann', 'again')", [uuid])
        with (
            pytest.raises(psycopg.errors.InvalidTransactionState, match="read committed"),
            keeper.transaction(),
        ):
            keeper.execute(DROP, [suffix])
    assert ledger.state(uuid) == ("PENDING", 2, 0)


def test_hole_3_a_partition_stays_while_callbacks_are_due_whose_ids_belong_to_it(ledger: Ledger) -> None:
    """Their action began in another partition."""
    began, uuid = ledger.old_action("2024-01-01", workflow="w")
    ended = ledger.old_partition("2024-01-03")
    ledger.event(uuid, "FAILED", 1, 1)
    ledger.connection.execute("update switchyard.thread set ended_at = '2024-01-03 10:00Z'")
    for suffix in (began, ended):
        assert ledger.connection.execute(DROP, [suffix]).fetchall() == [
            ("0 threads have not ended, 1 have callbacks due",)
        ]
    ledger.connection.execute("select switchyard.callbacks_made(%s, 1)", [uuid])
    for suffix in (ended, began):
        assert ledger.connection.execute(DROP, [suffix]).fetchall() == [(None,)]


def test_a_partition_that_is_dropped_takes_nothing_of_those_before_it(ledger: Ledger) -> None:
    """Neither are callbacks that are due for an end before its time a reason to leave it."""
    _, kept = ledger.old_action("2024-01-01")
    later, gone = ledger.old_action("2024-01-03")
    for uuid in (kept, gone):
        for row in (
            "idempotency values ('hook', %(id)s::text, %(id)s, '')",
            "presentation (action_uuid) values (%(id)s)",
            "footprint values (%(id)s, 1, '(0,0),(1,1)')",
        ):
            ledger.connection.execute(f"insert into switchyard.{row}".encode(), {"id": uuid})
    ledger.event(kept, "SUCCESSFUL", 1, 1)
    ledger.event(gone, "SUCCESSFUL", 1, 1)
    ledger.connection.execute(
        "update switchyard.thread set callbacks_due = true, ended_at = '2024-01-01 13:00Z' where action_uuid = %s",
        [kept],
    )
    assert ledger.connection.execute(DROP, [later]).fetchall() == [(None,)]
    for table in ("idempotency", "presentation", "footprint"):
        left = ledger.connection.execute(f"select action_uuid from switchyard.{table}".encode()).fetchall()
        assert left == [(kept,)], table


def test_while_another_instance_makes_or_drops_partitions_none_is_dropped(ledger: Ledger) -> None:
    suffix, uuid = ledger.old_action("2024-01-01")
    ledger.event(uuid, "SUCCESSFUL", 1, 1)
    with ledger.database.connect(autocommit=False) as other:
        other.execute("select from switchyard.partitioning for update")
        assert ledger.connection.execute(DROP, [suffix]).fetchall() == [("in use, try again later",)]
    assert ledger.connection.execute(DROP, [suffix]).fetchall() == [(None,)]


def test_creating_partitions_does_not_queue_behind_a_table_lock(ledger: Ledger) -> None:
    """It gives up at once: whoever wants to write would wait behind it."""
    ledger.connection.execute("set statement_timeout = '20s'")
    with ledger.database.connect(autocommit=False) as other:
        other.execute("lock table switchyard.thread in share update exclusive mode")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            ledger.connection.execute("select count(*) from switchyard.ensure_partitions(30)")
    ledger.connection.execute("select count(*) from switchyard.ensure_partitions(30)")


def test_hole_20_a_partition_stays_while_one_of_its_actions_is_in_flight(ledger: Ledger) -> None:
    suffix, uuid = ledger.old_action("2024-01-01")
    with ledger.database.connect() as conductor:
        conductor.execute("select pg_advisory_lock(switchyard.uuid_lock(%s))", [uuid])
        ledger.connection.execute("select switchyard.cancel(%s, 'ann', 'enough')", [uuid])
        assert ledger.connection.execute(DROP, [suffix]).fetchall() == [
            ("1 threads are locked by a program",)
        ]
        conductor.execute("select pg_advisory_unlock_all()")
        assert ledger.connection.execute(DROP, [suffix]).fetchall() == [(None,)]


def test_a_partition_that_something_depends_on_does_not_keep_the_others(ledger: Ledger) -> None:
    """Somebody's foreign key or view on one partition: retention goes on with the next."""
    first, uuid = ledger.old_action("2024-01-01")
    second, _ = ledger.old_action("2024-01-02")
    ledger.connection.execute("select switchyard.cancel(t.action_uuid, 'ann', 'old') from switchyard.yard t")
    ledger.connection.execute(f"create view public.mine as select * from switchyard.thread_{first}")
    dropped = ledger.connection.execute("select * from switchyard.drop_partitions('2024-02-01Z')").fetchall()
    assert [row[:2] for row in dropped] == [(first, False), (second, True)]
    assert "view public.mine depends on" in dropped[0][2]
    ledger.connection.execute("drop view public.mine")
    ledger.connection.execute("create table public.ours (id uuid references switchyard.action)")
    ledger.connection.execute("insert into public.ours values (%s)", [uuid])
    [(_, gone, reason)] = ledger.connection.execute(
        "select * from switchyard.drop_partitions('2024-02-01Z')"
    ).fetchall()
    assert not gone
    assert "constraint ours_id_fkey on table public.ours depends on" in reason
