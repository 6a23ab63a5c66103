"""Two connections that meet: the last two ends, a mark and an end, several that settle."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import psycopg
import pytest

from tests.integration.waiting.joins import end, held, ready, releases, settle, status, submit
from tests.parts.database import Database

pytestmark = pytest.mark.database
MOST_KILLS = 60  # on a slow machine, a batch could otherwise never be completed


@pytest.mark.parametrize("first_commits_last", [True, False])
def test_the_last_two_end_at_the_same_moment(database: Database, first_commits_last: bool) -> None:
    with (
        database.connect() as connection,
        database.connect(autocommit=False) as one,
        database.connect(autocommit=False) as two,
    ):
        children = [submit(connection), submit(connection)]
        waiter = submit(connection, children)
        settle(connection)
        end(one, children[0])
        end(two, children[1])
        assert settle(connection) == 1 or held(database, waiter)
        for peer in (two, one) if first_commits_last else (one, two):
            assert held(database, waiter)
            peer.commit()
            settle(connection)
        assert ready(database, waiter)
        assert len(releases(database, waiter)) == 1


def test_a_mark_before_an_end_makes_the_end_notify(database: Database) -> None:
    with (
        database.connect() as connection,
        database.connect(autocommit=False) as settles,
        database.connect() as hears,
    ):
        child = submit(connection)
        waiter = submit(connection, [child])
        [(channel, key)] = hears.execute(
            "select switchyard.bell_channel('switchyard joins'), switchyard.bell_key('switchyard joins')"
        ).fetchall()
        hears.execute(psycopg.sql.SQL("listen {}").format(psycopg.sql.Identifier(channel)))
        assert hears.execute("select pg_try_advisory_lock(1937204078, %s)", [key]).fetchall() == [(True,)]
        settle(settles)  # marked, and not committed
        with ThreadPoolExecutor(1) as pool:
            ending = pool.submit(end, connection, child)
            while not database.execute("select 1 from pg_locks where not granted"):
                assert not ending.done()
            settles.commit()
            ending.result(30)
        assert [notice.channel for notice in hears.notifies(timeout=60, stop_after=1)] == [channel]
        settle(connection)
    assert ready(database, waiter)


def test_an_end_before_a_mark_leaves_the_waiter_to_the_next_look(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as ends:
        child = submit(connection)
        waiter = submit(connection, [child])
        end(ends, child)
        assert settle(connection) == 1  # busy, and not taken for ended
        assert held(database, waiter)
        ends.rollback()
        assert settle(connection) == 0
        assert held(database, waiter)
        end(connection, child)
        settle(connection)
    assert ready(database, waiter)


def test_a_waiter_that_others_hold_is_busy_not_gone(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as other:
        child = submit(connection)
        waiter = submit(connection, [child])
        end(connection, child)
        other.execute("select from switchyard.thread where action_uuid = %s for update", [waiter])
        assert settle(connection) == 1
        other.rollback()
        settle(connection)
    assert ready(database, waiter)


def made(database: Database, chosen: random.Random) -> tuple[list[UUID], dict[UUID, tuple[list[UUID], str]]]:
    """600 actions, and 300 that wait for some of them."""
    with database.connect() as connection, connection.transaction():
        children = [submit(connection) for _ in range(600)]
        waiters: dict[UUID, tuple[list[UUID], str]] = {}
        for _ in range(300):
            after = chosen.sample(children, chosen.choice([1, 2, 3, 8]))
            policy = chosen.choice(["successful", "ended"])
            waiters[submit(connection, after, policy)] = (after, policy)
    return children, waiters


def settle_until(database: Database, stop: threading.Event) -> None:
    """Settle again and again, on a new connection whenever this one is terminated."""
    while not stop.is_set():
        try:
            with database.connect(application_name="settles") as own:
                while not stop.is_set():
                    settle(own)
                    time.sleep(0.002)  # as a pause between two looks
        except psycopg.OperationalError:
            continue


def kill_one_that_settles(database: Database) -> int:
    [(killed,)] = database.execute(
        "select count(*) filter (where pg_terminate_backend(pid)) from (select pid from pg_stat_activity"
        " where application_name = 'settles' and datname = current_database() order by random() limit 1) as x"
    )
    return int(killed)


def test_many_that_settle_and_are_killed_release_each_waiter_once(database: Database) -> None:
    """Four connections end 600 actions, some without success, while three that settle are terminated again and again."""
    chosen = random.Random(6)
    children, waiters = made(database, chosen)
    failed = set(chosen.sample(children, 60))
    stop = threading.Event()

    def ends(part: int) -> None:
        with database.connect() as own:
            for child in children[part::4]:
                end(own, child, status="FAILED" if child in failed else "SUCCESSFUL")

    def done() -> bool:
        return database.execute("select count(*) from switchyard.waiting") == [(0,)]

    with ThreadPoolExecutor(8) as pool:
        settling = [pool.submit(settle_until, database, stop) for _ in range(3)]
        ending = [pool.submit(ends, part) for part in range(4)]
        kills = 0
        try:
            while not (all(each.done() for each in ending) and done()):
                kills += kill_one_that_settles(database) if kills < MOST_KILLS else 0
                time.sleep(0.1)  # the pause between two kills
        finally:
            stop.set()
        for each in (*settling, *ending):
            each.result(30)
    assert kills > 0
    for waiter, (after, policy) in waiters.items():
        canceled = policy == "successful" and bool(failed & set(after))
        assert status(database, waiter) == ("CANCELED" if canceled else "PENDING")
        assert len(releases(database, waiter)) == (0 if canceled else 1)
        assert not held(database, waiter)
