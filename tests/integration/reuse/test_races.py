"""Many connections at once: several that settle, that are killed, that submit, end, cancel and forget."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from tests.integration.reuse.rules import announce, ask, computing, reused, roles, settle
from tests.integration.waiting.joins import Connection, asleep, end, status
from tests.parts.database import Database
from tests.waiting import until

pytestmark = pytest.mark.database
KEYS, THREADS, EACH = 20, 16, 15
MOST_KILLS = 60  # on a slow machine, a step could otherwise never be completed


def test_two_that_settle_at_once_make_one_leader(database: Database) -> None:
    with (
        database.connect() as connection,
        database.connect(autocommit=False) as one,
        database.connect(autocommit=False) as two,
    ):
        announce(connection)
        asked = [ask(connection) for _ in range(4)]
        assert settle(one) == 0
        assert settle(two) == 1  # busy: the key is decided elsewhere
        two.rollback()
        one.commit()
        settle(two)
        two.commit()
    assert computing(database, *asked) == asked[:1]


def test_the_table_allows_one_leader_per_key(database: Database) -> None:
    with database.connect() as connection:
        announce(connection)
        for _ in range(2):
            ask(connection)
        with pytest.raises(psycopg.errors.ExclusionViolation):
            connection.execute("update switchyard.reuse set role = 'leads'")


def test_an_end_that_is_not_committed_is_not_an_end(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as ends:
        announce(connection)
        first, second = ask(connection), ask(connection)
        settle(connection)
        end(ends, first)
        settle(connection)
        assert status(database, second) == "PENDING"
        third = ask(connection)
        settle(connection)
        assert roles(database)[third] == "follows"
        ends.commit()
        settle(connection)
    assert [reused(database, each) for each in (second, third)] == [(first, 1)] * 2


def test_one_that_waits_is_held_by_another(database: Database) -> None:
    """It is left to the next look, and the others are not kept waiting."""
    with database.connect() as connection, database.connect(autocommit=False) as other:
        announce(connection)
        first, second, third = (ask(connection) for _ in range(3))
        settle(connection)
        other.execute("select from switchyard.thread where action_uuid = %s for update", [second])
        end(connection, first)
        assert settle(connection) == 1
        assert (status(database, second), status(database, third)) == ("PENDING", "SUCCESSFUL")
        other.rollback()
        assert settle(connection) == 0
    assert reused(database, second) == (first, 1)


def test_a_locked_row_is_skipped(database: Database) -> None:
    """Neither the one that asks nor the one that computes is waited for, and nothing is reported."""
    with database.connect() as connection, database.connect(autocommit=False) as other:
        announce(connection)
        first, second = ask(connection), ask(connection)
        connection.execute("set lock_timeout = '5s'")
        hold = "select from switchyard.reuse where action_uuid = %s for update"
        other.execute(hold, [first])
        settle(connection)
        assert roles(database) == {first: "seeks", second: "leads"}
        other.rollback()
        settle(connection)
        third = ask(connection)
        other.execute(hold, [second])
        assert settle(connection) == 1
        assert roles(database) == {first: "follows", second: "leads", third: "seeks"}
        other.rollback()
        settle(connection)
        assert roles(database)[third] == "follows"
    assert database.execute("select * from switchyard.inbox") == []


def test_the_next_that_computes_may_be_held_by_another(database: Database) -> None:
    """Its thread, or its place in the queue."""
    with database.connect() as connection, database.connect(autocommit=False) as other:
        announce(connection)
        first = ask(connection)
        connection.execute("set lock_timeout = '5s'")
        for table in ("thread", "yard"):
            other.execute(
                f"select from switchyard.{table} where action_uuid = %s for update".encode(), [first]
            )
            assert settle(connection) == 1
            assert roles(database) == {first: "seeks"}
            other.rollback()
        with asleep(database) as rang:
            settle(connection)
            assert rang() == [str(first)]
        assert roles(database) == {first: "leads"}
    assert database.execute("select * from switchyard.inbox") == []


def test_a_key_that_cannot_be_decided_delays_no_other_and_changes_no_start_time(database: Database) -> None:
    with database.connect() as connection:
        announce(connection)
        cursed, later, other = ask(connection), ask(connection, start="2099-01-01Z"), ask(connection, 2)
        connection.execute(
            "create function cursed() returns trigger language plpgsql as $$ begin raise 'not this one'; end $$"
        )
        connection.execute(
            sql.SQL(
                "create trigger cursed before update of role on switchyard.reuse for each row when (new.action_uuid = {}) execute function cursed()"
            ).format(sql.Literal(cursed))
        )
        settle(connection)
        assert computing(database, cursed, later, other) == [other]
        entries = "select subject, error from switchyard.inbox where kind = 'join'"
        assert database.execute(entries) == [(str(cursed), "not this one")]
        times = "select not_before > now(), not_before = '2099-01-01Z' from switchyard.reuse where action_uuid = %s"
        assert database.execute(times, cursed) == [(True, False)]
        assert database.execute(times, later) == [(True, True)]
        connection.execute("drop trigger cursed on switchyard.reuse")
        connection.execute("update switchyard.reuse set not_before = now() where action_uuid = %s", [cursed])
        settle(connection)
    assert computing(database, cursed, later, other) == [cursed, other]


def test_a_leader_is_forgotten_while_another_begins_to_follow_it(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as settles:
        announce(connection)
        first = ask(connection)
        settle(connection)
        second = ask(connection)
        settle(settles)  # it follows, and that is not committed
        with ThreadPoolExecutor(1) as pool:
            forgets = pool.submit(
                connection.execute, "select switchyard.forget_results('ann', 'wrong', workflow => 'ndvi')"
            )
            until(
                lambda: (
                    forgets.done()
                    or database.execute("select count(*) from pg_locks where not granted") != [(0,)]
                )
            )
            settles.commit()
            forgets.result(30)
        settle(connection)
    assert computing(database, first, second) == [first, second]
    assert roles(database) == {second: "leads"}


def test_an_uncommitted_submission_delays_no_other(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as late:
        announce(connection)
        waits = ask(late)
        first = ask(connection)
        settle(connection)
        end(connection, first)
        settle(connection)
        late.commit()
        settle(connection)
    assert reused(database, waits) == (first, 1)


class Storm:
    """Callers, workers, conductors that settle and are killed, and somebody who cancels and forgets."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.stop = threading.Event()
        self.asked: list[UUID] = []
        self.computed: Counter[int] = Counter()  # successes by key
        self.forgets = False

    def submits(self, seed: int) -> None:
        chosen = random.Random(seed)
        with self.database.connect() as own:
            for _ in range(EACH):
                number = chosen.randrange(KEYS)
                item = chosen.choice([{"a": number, "b": 1}, {"b": 1.0, "a": number}])
                self.asked.append(ask(own, item))

    def works(self, seed: int) -> None:
        """Claims as a worker does; its completion may be cut off in the middle."""
        chosen = random.Random(seed)
        self._again(lambda own: self._work(own, chosen), "dies")

    def _work(self, own: Connection, chosen: random.Random) -> None:
        [(uuids, runs, attempts, locks)] = own.execute(
            "select uuids, runs, attempts, lock_ids from switchyard.claim('noop', 1)"
        ).fetchall()
        if not uuids:
            time.sleep(0.005)  # as a worker without a bell
            return
        [(item,)] = own.execute(
            "select parameters -> 'item' ->> 'a' from switchyard.action where action_uuid = %s", uuids
        ).fetchall()
        ended = chosen.choice(["SUCCESSFUL"] * 4 + ["FAILED", "TIMED_OUT"])
        with own.transaction():
            own.execute(
                "insert into switchyard.event (action_uuid, status, run, attempt, source) values (%s, %s, %s, %s, 'worker')",
                [uuids[0], ended, runs[0], attempts[0] + 1],
            )
            time.sleep(0.002)  # where it is killed
        self.computed[int(item)] += ended == "SUCCESSFUL"
        own.execute("select switchyard.unlock(%s)", [locks])

    def settles(self, _seed: int) -> None:
        def look(own: Connection) -> None:
            settle(own)
            time.sleep(0.002)  # as a pause between two looks

        self._again(look, "dies")

    def disturbs(self, seed: int) -> None:
        chosen = random.Random(seed)

        def disturb(own: Connection) -> None:
            rows = own.execute(
                "select action_uuid from switchyard.reuse where role <> 'result' order by random() limit 1"
            ).fetchall()
            for (uuid,) in rows:
                own.execute("select switchyard.cancel(%s, 'ann', 'enough')", [uuid])
            if self.forgets and chosen.random() < 0.5:
                own.execute("select switchyard.forget_results('ann', 'again', workflow => 'ndvi')")
            time.sleep(0.05)  # not all of them

        self._again(disturb, "disturbs")

    def _again(self, step: Callable[[Connection], None], name: str) -> None:
        """Until it is told to stop, on a new connection whenever this one is terminated."""
        while not self.stop.is_set():
            try:
                with self.database.connect(application_name=name) as own:
                    while not self.stop.is_set():
                        step(own)
            except psycopg.errors.DeadlockDetected:
                raise
            except psycopg.OperationalError:
                continue

    def kills(self) -> int:
        [(killed,)] = self.database.execute(
            "select count(*) filter (where pg_terminate_backend(pid)) from (select pid from pg_stat_activity"
            " where application_name = 'dies' and datname = current_database() order by random() limit 1) as x"
        )
        return int(killed)

    def run(self) -> int:
        """Until every action has ended; how many sessions were killed."""
        kills = 0
        with ThreadPoolExecutor(THREADS + 8) as pool:
            others = [
                pool.submit(work, seed)
                for work, n in ((self.works, 4), (self.settles, 2), (self.disturbs, 1))
                for seed in range(n)
            ]
            asking = [pool.submit(self.submits, 100 + seed) for seed in range(THREADS)]
            try:

                def over() -> bool:
                    nonlocal kills
                    kills += self.kills() if kills < MOST_KILLS else 0
                    return all(each.done() for each in asking) and self.database.execute(
                        "select count(*) from switchyard.yard"
                    ) == [(0,)]

                until(over, 240, every=0.05)
            finally:
                self.stop.set()
            for each in (*asking, *others):
                each.result(30)
        return kills


@pytest.mark.timeout(600)
@pytest.mark.parametrize("forgets", [False, True])
def test_each_key_is_computed_once_whichever_process_is_killed(database: Database, forgets: bool) -> None:
    """16 callers on 20 keys: every action ends, no result is of a failure, and nothing is computed twice unless it was forgotten."""
    with database.connect() as connection:
        announce(connection)
    storm = Storm(database)
    storm.forgets = forgets
    assert storm.run() > 0
    assert len(storm.asked) == THREADS * EACH
    successes = dict(
        database.execute(
            "select a.parameters -> 'item' ->> 'a', count(*) from switchyard.event e join switchyard.action a using (action_uuid)"
            " where e.status = 'SUCCESSFUL' and e.source = 'worker' and not e.ignored group by 1"
        )
    )
    if not forgets:
        assert set(successes.values()) == {1}
    ends = Counter(status(database, each) for each in storm.asked)
    given = [place for each in storm.asked if (place := reused(database, each)) is not None]
    assert len(given) == ends["SUCCESSFUL"] - sum(successes.values())
    wrong = database.execute(
        "select count(*) from switchyard.event e join switchyard.action a using (action_uuid)"
        " join switchyard.action l on l.action_uuid = (e.detail -> 'reused' ->> 'action')::uuid"
        " where e.source = 'reuse' and (l.parameters -> 'item') <> (a.parameters -> 'item')"
    )
    assert wrong == [(0,)]
    assert database.execute("select count(*) from switchyard.thread where callbacks_due") == [
        (THREADS * EACH,)
    ]
