"""Sets under two connections: the last two ends, members that others hold, kills, retention."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import psycopg
import pytest

from tests.integration.sets.campaigns import start
from tests.integration.sets.graphs import ends, nodes, settle, submit_graph, tally, verified
from tests.integration.waiting.joins import end, settlers, status
from tests.parts.database import Database

pytestmark = pytest.mark.database


@pytest.mark.parametrize("first_commits_last", [True, False])
def test_the_last_two_members_end_at_the_same_moment(database: Database, first_commits_last: bool) -> None:
    with (
        database.connect() as connection,
        database.connect(autocommit=False) as one,
        database.connect(autocommit=False) as two,
    ):
        ids = submit_graph(connection, {"nodes": nodes(a="", b=""), "callbacks": []})
        end(one, ids["a"])
        end(two, ids["b"])
        assert settle(connection) == 1  # a row that is locked is not gone
        for peer in (two, one) if first_commits_last else (one, two):
            assert status(database, ids[None]) == "RUNNING"
            peer.commit()
            settle(connection)
        assert ends(database, ids[None]) == [(1, "SUCCESSFUL", None)]
    assert verified(database)


def test_a_sealed_set_takes_no_more_members(database: Database) -> None:
    with database.connect() as connection:
        ids = submit_graph(connection, {"nodes": nodes(a="", b="")})
        with pytest.raises(psycopg.errors.ForeignKeyViolation, match="there is no set"):
            connection.execute(
                "insert into switchyard.action (action_name, action_type, member_of) values ('noop', 'callback', %s)",
                [ids[None]],
            )


def test_a_set_is_not_sealed_while_a_member_is_being_added(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as adds:
        campaign = start(connection)
        insert = "insert into switchyard.action (action_name, action_type, member_of) values ('noop', 'callback', %s)"
        adds.execute(insert, [campaign])
        connection.execute("set lock_timeout = '50ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            connection.execute("select switchyard.seal_set(%s)", [campaign])
        connection.execute(insert, [campaign])  # those who add members do not wait for each other
        adds.commit()
        connection.execute("select switchyard.seal_set(%s)", [campaign])


def test_members_whose_callbacks_are_still_being_made_are_left_for_the_next_call(database: Database) -> None:
    with database.connect() as connection:
        ids = submit_graph(connection, {"nodes": nodes(a="", b="")})
        end(connection, ids["a"], ids["b"], status="FAILED")
        settle(connection)
        connection.execute(
            "update switchyard.thread set callbacks_due = (action_uuid = %s) where action_uuid = any (%s)",
            [ids["a"], [ids["a"], ids["b"], ids[None]]],
        )
        again = "select switchyard.retrigger_members(%s, 10, 'me', 'again')"
        assert connection.execute(again, [ids[None]]).fetchall() == [(1,)]
        assert [status(database, ids[name]) for name in "ab"] == ["FAILED", "PENDING"]
        connection.execute("update switchyard.thread set callbacks_due = false")
        assert connection.execute(again, [ids[None]]).fetchall() == [(1,)]
    assert status(database, ids["a"]) == "PENDING"


def test_members_are_retriggered_up_to_a_number_and_up_to_a_moment(database: Database) -> None:
    with database.connect() as connection:
        ids = submit_graph(connection, {"nodes": nodes(a="", b="", c="")})
        end(connection, ids["a"], status="FAILED")
        [(moment,)] = connection.execute("select clock_timestamp()").fetchall()
        end(connection, ids["b"], ids["c"], status="FAILED")
        settle(connection)
        connection.execute("update switchyard.thread set callbacks_due = false")
        again = "select switchyard.retrigger_members(%s, %s, 'me', 'again', %s)"
        assert connection.execute(again, [ids[None], 10, moment]).fetchall() == [(1,)]
        assert [status(database, ids[name]) for name in "abc"] == ["PENDING", "FAILED", "FAILED"]
        assert connection.execute(again, [ids[None], 1, "infinity"]).fetchall() == [(1,)]
        assert [status(database, ids[name]) for name in "abc"].count("FAILED") == 1


def test_a_graph_and_a_retriggered_member_wake_the_settle_loop(database: Database) -> None:
    with database.connect() as connection, settlers(database) as woken:
        ids = submit_graph(connection, {"nodes": nodes(a="", b="")})
        assert woken() == {"maintenance", "joins"}
        end(connection, ids["a"], status="FAILED")
        settle(connection)
        woken()
        again = "select switchyard.retrigger(%s, 'me', 'again')"
        connection.execute("update switchyard.thread set callbacks_due = false")
        connection.execute(again, [ids["a"]])
        assert woken() == {"maintenance", "joins"}, "the set is open"
        end(connection, ids["a"], ids["b"], status="FAILED")
        settle(connection)
        assert status(database, ids[None]) == "FAILED"
        woken()
        connection.execute("update switchyard.thread set callbacks_due = false")
        connection.execute(again, [ids["b"]])
        assert woken() == {"maintenance", "joins"}, "it is open again"


def test_the_cancel_of_a_set_wakes_the_settle_loop(database: Database) -> None:
    with database.connect() as connection, settlers(database) as woken:
        ids = submit_graph(connection, {"nodes": nodes(a="")})
        woken()
        connection.execute("select switchyard.cancel(%s, 'me', 'no')", [ids[None]])
        assert woken() == {"joins"}


def test_a_set_that_was_canceled_before_it_was_sealed_takes_no_more_members(database: Database) -> None:
    with database.connect() as connection:
        campaign = start(connection)
        connection.execute("select switchyard.cancel(%s, 'me', 'no')", [campaign])
        settle(connection)
        with pytest.raises(psycopg.errors.ForeignKeyViolation, match="no set"):
            connection.execute(
                "insert into switchyard.action (action_name, member_of) values ('noop', %s)", [campaign]
            )


def test_a_set_that_was_set_aside_is_left_alone_until_its_time(database: Database) -> None:
    with database.connect() as connection:
        ids = submit_graph(connection, {"nodes": nodes(a="")})
        end(connection, ids["a"])
        connection.execute("update switchyard.sets set not_before = now() + interval '1 hour'")
        settle(connection)
        assert status(database, ids[None]) == "RUNNING"
        connection.execute("update switchyard.sets set not_before = now()")
        settle(connection)
    assert status(database, ids[None]) == "SUCCESSFUL"


def test_locked_lines_of_the_tally_are_folded_later(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as other:
        ids = submit_graph(connection, {"nodes": nodes(a="", b="")})
        end(connection, ids["a"])
        before = tally(database, ids[None])
        other.execute("select from switchyard.tally where status = 'SUCCESSFUL' for update")
        connection.execute("set lock_timeout = '5s'")
        connection.execute("select switchyard.fold_tally(%s)", [ids[None]])
        assert tally(database, ids[None]) == before


def test_the_members_that_a_canceled_set_takes_along_are_reported_to_caboose(database: Database) -> None:
    with database.connect() as connection, database.connect() as caboose:
        ids = submit_graph(connection, {"nodes": nodes(a="")})
        connection.execute("select switchyard.cancel(%s, 'me', 'no')", [ids[None]])
        connection.execute("update switchyard.thread set calls_back = false")
        caboose.execute("listen switchyard_caboose")
        settle(connection)
        caboose.execute("select")
        assert [each.payload for each in caboose.notifies(timeout=0)] == [""]
    assert status(database, ids["a"]) == "CANCELED"


def test_a_set_whose_row_is_held_is_looked_at_again(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as other:
        ids = submit_graph(connection, {"nodes": nodes(a="")})
        end(connection, ids["a"])
        other.execute("select from switchyard.thread where action_uuid = %s for update", [ids[None]])
        assert settle(connection) == 1
        other.rollback()
        settle(connection)
    assert status(database, ids[None]) == "SUCCESSFUL"


def test_a_cancel_continues_if_a_member_is_locked(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as other:
        ids = submit_graph(connection, {"nodes": nodes(a="", b="")})
        other.execute("select from switchyard.thread where action_uuid = %s for update", [ids["a"]])
        connection.execute("select switchyard.cancel(%s, 'me', 'no')", [ids[None]])
        assert settle(connection) == 1
        assert [status(database, ids[name]) for name in "ab"] == ["PENDING", "CANCELED"]
        other.rollback()
        settle(connection)
    assert status(database, ids["a"]) == "CANCELED"


def test_a_watched_member_that_ended_and_was_retriggered_is_watched_again(database: Database) -> None:
    with database.connect() as connection:
        ids = submit_graph(connection, {"nodes": nodes(a="", b="")})
        settle(connection)
        end(connection, ids["b"], status="FAILED")
        connection.execute("select switchyard.retrigger(%s, 'me', 'again')", [ids["b"]])
        end(connection, ids["a"])
        settle(connection)
        assert status(database, ids[None]) == "RUNNING"
        assert database.execute("select watched from switchyard.yard where member_of is not null") == [
            (True,)
        ]
        end(connection, ids["b"])
        settle(connection)
    assert ends(database, ids[None]) == [(1, "SUCCESSFUL", None)]


def test_a_retrigger_against_the_end_of_the_set_waits_and_reopens_it(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as settles:
        ids = submit_graph(connection, {"nodes": nodes(a="")})
        end(connection, ids["a"], status="FAILED")
        settle(settles)  # ended, and not committed
        with ThreadPoolExecutor(1) as pool:
            statement = "select switchyard.retrigger(%s, 'me', 'again')"
            again = pool.submit(connection.execute, statement, [ids["a"]])
            while not database.execute("select 1 from pg_locks where not granted"):
                assert not again.done()
            settles.commit()
            again.result(30)
    assert status(database, ids[None]) == "RUNNING"
    assert tally(database, ids[None]) == (1, 0, 0, 1)
    assert verified(database)


def test_retention_drops_a_set_with_its_partition(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("select switchyard.ensure_partitions(1)")
        ids = submit_graph(connection, {"nodes": nodes(a="", b="a")})
        settle(connection)
        for name in "ab":
            end(connection, ids[name])
            settle(connection)
        connection.execute("select switchyard.drop_sets(%s, %s)", [ids[None], UUID(int=ids["b"].int + 1)])
    assert database.execute("select 1 from switchyard.sets union all select 1 from switchyard.tally") == []
    assert verified(database)


def _ends_members(database: Database, members: list[UUID], seed: int) -> None:
    chosen = random.Random(seed)
    with database.connect() as connection:
        for uuid in members:
            end(connection, uuid, status=chosen.choice(["SUCCESSFUL", "SUCCESSFUL", "FAILED"]))


def test_settlers_that_are_killed_end_every_set_once(database: Database) -> None:
    sets = 20
    with database.connect() as connection:
        graphs = [submit_graph(connection, {"nodes": nodes(a="", b="", c="")}) for _ in range(sets)]
    members = [ids[name] for ids in graphs for name in "abc"]
    random.Random(1).shuffle(members)
    done = threading.Event()

    def settles() -> None:
        last = False
        while not last:
            last = done.is_set()
            try:
                with database.connect() as connection:
                    settle(connection)
            except psycopg.OperationalError:
                last = False

    with ThreadPoolExecutor(4) as pool:
        settlers = [pool.submit(settles) for _ in range(2)]
        enders = [pool.submit(_ends_members, database, members[half::2], half) for half in range(2)]
        for _ in range(20):
            database.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and query like '%%settle_sets%%' and pid <> pg_backend_pid() limit 1"
            )
        for each in enders:
            each.result(60)
        done.set()
        for each in settlers:
            each.result(60)
    with database.connect() as connection:
        settle(connection)
    assert [len(ends(database, ids[None])) for ids in graphs] == [1] * sets
    assert verified(database)
