"""An action that waits for others: held, released once, canceled with the reason, reopened."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from switchyard import Switchyard
from switchyard.submit.write import uuid7s
from tests.integration.ledger.ledger import Ledger
from tests.integration.waiting.joins import (
    asleep,
    end,
    held,
    ready,
    releases,
    settle,
    settlers,
    status,
    submit,
)
from tests.parts.database import Database

pytestmark = pytest.mark.database
FOREIGN = psycopg.errors.ForeignKeyViolation


def test_a_waiter_is_released_once_when_the_last_has_ended(database: Database) -> None:
    with database.connect() as connection:
        first, second = submit(connection), submit(connection)
        waiter = submit(connection, [first, second])
        assert settle(connection) == 0
        assert held(database, waiter)
        assert not ready(database, waiter)
        end(connection, second)
        settle(connection)
        assert held(database, waiter)
        end(connection, first)
        assert held(database, waiter)  # an end does nothing for a waiter
        settle(connection)
        settle(connection)
    assert ready(database, waiter)
    assert releases(database, waiter) == [{str(first): 1, str(second): 1}]
    assert database.execute("select * from switchyard.waiting") == []


def test_of_actions_that_have_ended_already(database: Database) -> None:
    with database.connect() as connection:
        first = submit(connection)
        end(connection, first)
        waiter = submit(connection, [first, first])
        settle(connection)
    assert ready(database, waiter)


def test_a_waiter_that_cannot_be_released_stops_no_other(database: Database) -> None:
    with database.connect() as connection:
        child = submit(connection)
        cursed, other = submit(connection, [child]), submit(connection, [child])
        connection.execute(
            "create function cursed() returns trigger language plpgsql as $$ begin raise 'not this one'; end $$"
        )
        connection.execute(
            sql.SQL(
                "create trigger cursed before insert on switchyard.event for each row"
                " when (new.action_uuid = {} and new.source = 'joins') execute function cursed()"
            ).format(sql.Literal(cursed))
        )
        end(connection, child)
        assert [settle(connection), settle(connection)] == [0, 0]
        assert ready(database, other)
        assert held(database, cursed)
        entries = "select subject, error from switchyard.inbox where kind = 'join'"
        assert database.execute(entries) == [(str(cursed), "not this one")]
        connection.execute("drop trigger cursed on switchyard.event")
        connection.execute("update switchyard.waiting set not_before = now()")
        assert settle(connection) == 0
    assert ready(database, cursed)


def test_a_waiter_wakes_conductors_that_know_of_none_and_those_that_sleep(database: Database) -> None:
    with database.connect() as connection, settlers(database) as woken:
        child = submit(connection)
        assert woken() == set()
        waiter = submit(connection, [child])
        assert woken() == {"maintenance", "joins"}
        connection.execute("select switchyard.cancel(%s, 'ann', 'wait')", [waiter])
        woken()
        connection.execute("select switchyard.retrigger(%s, 'ann', 'go on')", [waiter])
        assert woken() == {"maintenance", "joins"}


@pytest.mark.parametrize("early", [False, True])
def test_a_release_wakes_conductors_of_that_name_and_names_what_is_ready(
    database: Database, *, early: bool
) -> None:
    start = datetime.now(UTC) + timedelta(hours=1) if early else None
    with database.connect() as connection, asleep(database) as rang:
        child = submit(connection)
        waiter = submit(connection, [child], start=start)
        end(connection, child)
        rang()
        settle(connection)
        assert rang() == ["" if early else str(waiter)]


def test_without_success_it_is_canceled_with_the_reason(database: Database) -> None:
    with database.connect() as connection:
        good, bad = submit(connection), submit(connection)
        waiter = submit(connection, [good, bad])
        last = submit(connection, [waiter])
        end(connection, bad, status="FAILED")
        settle(connection)
        assert held(database, waiter)  # judged when all have ended: the child may be retriggered meanwhile
        end(connection, good)
        settle(connection)
    assert (status(database, waiter), status(database, last)) == ("CANCELED", "CANCELED")
    [(error,)] = database.execute("select error from switchyard.thread where action_uuid = %s", waiter)
    assert error == f"of 2 actions that it waited for, 1 ended without success, like {bad}"


def test_the_policy_ended_takes_every_end(database: Database) -> None:
    with database.connect() as connection:
        bad = submit(connection)
        waiter = submit(connection, [bad], "ended")
        end(connection, bad, status="TIMED_OUT")
        settle(connection)
    assert ready(database, waiter)


def test_cancel_of_an_action_propagates_to_what_waits_for_it(database: Database) -> None:
    with database.connect() as connection:
        root = submit(connection)
        chain = [submit(connection, [root])]
        for _ in range(4):
            chain.append(submit(connection, [chain[-1]]))
        settle(connection)
        connection.execute("select switchyard.cancel(%s, 'ann', 'enough')", [root])
        settle(connection)
    assert {status(database, uuid) for uuid in chain} == {"CANCELED"}


def test_a_waiter_that_is_canceled_itself_leaves_nothing_behind(database: Database) -> None:
    with database.connect() as connection:
        first = submit(connection)
        waiter = submit(connection, [first])
        settle(connection)
        connection.execute("select switchyard.cancel(%s, 'ann', 'enough')", [waiter])
        settle(connection)
        end(connection, first)
        settle(connection)
    assert status(database, waiter) == "CANCELED"
    assert database.execute("select * from switchyard.waiting") == []


def test_the_start_time_is_unchanged(database: Database) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    with database.connect() as connection:
        first = submit(connection)
        waiter = submit(connection, [first], start=later)
        end(connection, first)
        settle(connection)
    assert database.execute("select due from switchyard.yard where action_uuid = %s", waiter) == [(later,)]


def test_a_retriggered_child_reopens_all_that_was_canceled_for_it(database: Database) -> None:
    with database.connect() as connection:
        child, other = submit(connection), submit(connection)
        waiter = submit(connection, [child, other])
        last = submit(connection, [waiter])
        by_hand = submit(connection, [child])
        settle(connection)
        connection.execute("select switchyard.cancel(%s, 'ann', 'not needed')", [by_hand])
        end(connection, child, status="FAILED")
        end(connection, other)
        settle(connection)
        connection.execute("select switchyard.retrigger(%s, 'ann', 'mended')", [child])
        settle(connection)
        assert held(database, waiter)
        assert held(database, last)
        end(connection, child)
        settle(connection)
        assert ready(database, waiter)
        end(connection, waiter)
        settle(connection)
    assert ready(database, last)
    assert releases(database, waiter) == [{str(child): 2, str(other): 1}]
    assert status(database, by_hand) == "CANCELED"  # somebody had decided that
    [(note,)] = database.execute(
        "select detail ->> 'note' from switchyard.event where action_uuid = %s and status = 'PENDING'", waiter
    )
    assert note == f"waits again: {child} was retriggered by ann"


def test_a_retriggered_child_reopens_nothing_that_waited_for_others(database: Database) -> None:
    with database.connect() as connection:
        child, other = submit(connection), submit(connection)
        mine, others = submit(connection, [child]), submit(connection, [other])
        end(connection, child, other, status="FAILED")
        settle(connection)
        connection.execute("select switchyard.retrigger(%s, 'ann', 'repaired')", [child])
    assert [status(database, uuid) for uuid in (mine, others)] == ["PENDING", "CANCELED"]


def test_a_child_is_not_retriggered_while_callbacks_of_what_waited_for_it_are_made(
    database: Database,
) -> None:
    with database.connect() as connection:
        child = submit(connection)
        waiters = [submit(connection, [child]) for _ in range(2)]
        end(connection, child, status="FAILED")
        settle(connection)
        reopen = "select switchyard.reopen_waiters(%s, 'ann', 'repaired')"
        connection.execute(
            "update switchyard.thread set callbacks_due = true where action_uuid = %s", [waiters[1]]
        )
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="still being made"):
            connection.execute(reopen, [child])
        assert {status(database, uuid) for uuid in waiters} == {"CANCELED"}
        connection.execute("update switchyard.thread set callbacks_due = false")
        assert connection.execute(reopen, [child]).fetchall() == [(2,)]


def test_a_child_retriggered_after_its_waiter_went_on_changes_nothing(database: Database) -> None:
    with database.connect() as connection:
        child = submit(connection)
        waiter = submit(connection, [child], "ended")
        end(connection, child, status="FAILED")
        settle(connection)
        connection.execute("select switchyard.retrigger(%s, 'ann', 'mended')", [child])
        settle(connection)
    assert ready(database, waiter)
    assert releases(database, waiter) == [{str(child): 1}]


def test_a_child_retriggered_while_its_waiter_waits_is_waited_for_again(database: Database) -> None:
    """Its new row has no mark: that a row is there must not be taken for being watched."""
    with database.connect() as connection:
        child = submit(connection)
        waiter = submit(connection, [child])
        settle(connection)
        end(connection, child, status="FAILED")
        connection.execute("select switchyard.retrigger(%s, 'ann', 'mended')", [child])
        settle(connection)
        assert held(database, waiter)
        assert database.execute("select watched from switchyard.yard where action_uuid = %s", child) == [
            (True,)
        ]
        end(connection, child)
        settle(connection)
    assert ready(database, waiter)
    assert releases(database, waiter) == [{str(child): 2}]


def test_a_retriggered_waiter_waits_again(database: Database) -> None:
    with database.connect() as connection:
        first = submit(connection)
        waiter = submit(connection, [first])
        connection.execute("select switchyard.cancel(%s, 'ann', 'wait')", [waiter])
        connection.execute("select switchyard.retrigger(%s, 'ann', 'go on')", [waiter])
        settle(connection)
        assert held(database, waiter)
        end(connection, first)
        settle(connection)
    assert ready(database, waiter)


def test_an_unknown_action_cannot_be_waited_for(database: Database) -> None:
    with database.connect() as connection, pytest.raises(FOREIGN, match="there is no action"):
        submit(connection, [UUID("01900000-0000-7000-8000-000000000000")])


INSERT = "insert into switchyard.action (action_uuid, action_name, after) values (%s, 'noop', %s), (%s, 'noop', %s)"


def test_a_cycle_cannot_be_made(database: Database) -> None:
    first, second = uuid7s(datetime.now(UTC).timestamp(), 2)
    with database.connect() as connection:
        with pytest.raises(FOREIGN):
            connection.execute(INSERT, [first, [second], second, [first]])
        with pytest.raises(FOREIGN):
            connection.execute(INSERT, [first, [first], second, None])
        child = submit(connection)
        connection.execute(INSERT, [first, [child], second, [first]])  # both wait, in their order
        end(connection, child)
        settle(connection)
        end(connection, first)
        settle(connection)
    assert ready(database, second)


@pytest.mark.parametrize("after", [[None], ["01900000-0000-7000-8000-000000000000"] * 1001])
def test_lists_that_cannot_be_waited_for(database: Database, after: list[object]) -> None:
    with database.connect() as connection, pytest.raises(psycopg.errors.CheckViolation):
        connection.execute(
            "insert into switchyard.action (action_name, after) values ('noop', %s::uuid[])", [after]
        )


def test_the_same_key_with_another_after_is_another_request(database: Database) -> None:
    with database.connect() as connection:
        first, second = submit(connection), submit(connection)
        keyed = "select switchyard.submit('noop', idempotency_key => 'k', after => array[%s]::uuid[])"
        connection.execute(keyed, [first])
        connection.execute(keyed, [first])
        with pytest.raises(psycopg.errors.UniqueViolation, match="asked for something else"):
            connection.execute(keyed, [second])


def test_many_at_once(database: Database) -> None:
    with database.connect() as connection:
        first = submit(connection)
        requests = f'[{{"action_name": "noop", "after": ["{first}"], "after_policy": "ended"}}, {{"action_name": "noop"}}]'
        rows = connection.execute(
            "select action_uuid from switchyard.submit_many(%s::jsonb)", [requests]
        ).fetchall()
        settle(connection)
        assert [held(database, uuid) for (uuid,) in rows] == [True, False]


def test_a_child_that_retention_dropped_counts_as_it_ended(ledger: Ledger) -> None:
    connection = ledger.connection
    suffix, good = ledger.old_action("2020-01-01")
    [(bad,)] = connection.execute(
        "insert into switchyard.action (action_uuid, action_name) values (switchyard.uuid7('2020-01-01 13:00Z'), 'x') returning action_uuid"
    ).fetchall()
    today = submit(connection)
    waiters = {policy: submit(connection, [good, bad, today], policy) for policy in ("successful", "ended")}
    settle(connection)
    end(connection, good)
    end(connection, bad, status="FAILED")
    assert connection.execute("select switchyard.drop_partition(%s)", [suffix]).fetchall() == [(None,)]
    settle(connection)
    assert held(ledger.database, waiters["ended"])
    end(connection, today)
    settle(connection)
    assert status(ledger.database, waiters["successful"]) == "CANCELED"
    assert ready(ledger.database, waiters["ended"])
    assert releases(ledger.database, waiters["ended"]) == [{str(good): 1, str(bad): 1, str(today): 1}]


def test_held_actions_do_not_break_the_claim_or_the_queue_view(database: Database) -> None:
    """psycopg cannot read infinity, and before 17 Postgres cannot subtract it."""
    with database.connect() as connection:
        first = submit(connection)
        submit(connection, [first])
        end(connection, first)
        rows = connection.execute("select next_due from switchyard.claim('noop', 10)").fetchall()
        assert rows == [(None,)]
        assert connection.execute("select depth, processable, next_due from switchyard.queue").fetchall() == [
            (1, 0, None)
        ]
        settle(connection)


def test_what_waits_is_not_ended_as_unserved(database: Database) -> None:
    with database.connect() as connection:
        first = submit(connection)
        waiter = submit(connection, [first])
        settle(connection)
        ended = connection.execute("select * from switchyard.end_unserved('{}', interval '0', 10)").fetchall()
        assert ended == [("noop", 1)]
    assert held(database, waiter)


def test_why_names_what_it_waits_for(database: Database) -> None:
    with Switchyard(database.url) as yard:
        first, second = yard.submit("noop"), yard.submit("noop")
        waiter = yard.submit("noop", after=[first, second], after_policy="ended")
        with database.connect() as connection:
            end(connection, second)
        sentence = database.execute("select switchyard.why(%s)", waiter)[0][0]
    expected = f"It waits for 1 of 2 actions, among them {first} of noop (PENDING)"
    assert expected in str(sentence)
    assert held(database, waiter)
