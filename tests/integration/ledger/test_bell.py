"""The bell: heard by whoever sleeps armed, silent while nobody does, at most twice a transaction."""

import json
from collections.abc import Iterator
from uuid import UUID

import pytest

from tests.integration.ledger.ledger import Connection, Ledger

pytestmark = pytest.mark.database

ARM = "select pg_try_advisory_lock(1937204078, switchyard.bell_key('noop'))"
DISARM = "select pg_advisory_unlock(1937204078, switchyard.bell_key('noop'))"


@pytest.fixture
def sleeper(ledger: Ledger) -> Iterator[Connection]:
    with ledger.database.connect() as connection:
        channel = connection.execute("select switchyard.bell_channel('noop')").fetchall()[0][0]
        connection.execute(f'listen "{channel}"'.encode())
        yield connection


def heard(connection: Connection) -> list[str]:
    """What has rung by now: a round trip brings those that were committed before."""
    connection.execute("select")
    return [bell.payload for bell in connection.notifies(timeout=0)]


def bells(connection: Connection) -> int:
    return len(heard(connection))


def test_an_armed_sleeper_is_woken_by_every_way_to_become_processable(
    ledger: Ledger, sleeper: Connection
) -> None:
    assert sleeper.execute(ARM).fetchall() == [(True,)]
    uuid = ledger.submit()
    assert bells(sleeper) == 1
    ledger.event(uuid, "BACKOFF", 1, 1)
    assert bells(sleeper) == 1
    ledger.event(uuid, "FAILED", 1, 2)
    assert bells(sleeper) == 0
    ledger.connection.execute("select switchyard.retrigger(%s, 'ann', 'again')", [uuid])
    assert bells(sleeper) == 1
    ledger.submit(start_after="2099-01-01")
    assert bells(sleeper) == 1
    ledger.connection.execute(
        "select switchyard.pause('noop', 'ann', 'x'), switchyard.resume('noop', 'ann', 'y')"
    )
    assert bells(sleeper) == 1
    ledger.submit("other")
    assert bells(sleeper) == 0


def test_a_statement_rings_once(ledger: Ledger, sleeper: Connection) -> None:
    sleeper.execute(ARM)
    ledger.connection.execute(
        "insert into switchyard.action (action_name) select 'noop' from generate_series(1, 500)"
    )
    assert bells(sleeper) == 1


def test_a_bell_names_the_one_action_that_is_ready(ledger: Ledger, sleeper: Connection) -> None:
    sleeper.execute(ARM)
    uuid = ledger.submit()
    ledger.submit(start_after="2099-01-01")
    ledger.connection.execute(
        "insert into switchyard.action (action_name) select 'noop' from generate_series(1, 2)"
    )
    assert heard(sleeper) == [str(uuid), "", ""]


def test_a_transaction_of_many_submits_names_the_first_and_rings_twice(
    ledger: Ledger, sleeper: Connection
) -> None:
    sleeper.execute(ARM)
    for _ in range(2):
        with ledger.connection.transaction():
            first, *_ = [ledger.submit() for _ in range(50)]
        assert heard(sleeper) == [str(first), ""]


def test_no_notification_while_no_worker_sleeps(ledger: Ledger, sleeper: Connection) -> None:
    sleeper.execute(ARM)
    sleeper.execute(DISARM)
    ledger.submit()
    assert bells(sleeper) == 0


def test_a_writer_in_flight_keeps_the_sleeper_from_arming_so_no_wake_up_is_lost(
    ledger: Ledger, sleeper: Connection
) -> None:
    with ledger.database.connect(autocommit=False) as writer:
        writer.execute("select switchyard.submit('noop')")
        assert sleeper.execute(ARM).fetchall() == [(False,)]
        writer.commit()
    assert sleeper.execute(ARM).fetchall() == [(True,)]
    assert len(ledger.claim()) == 1


def test_a_batch_that_backs_off_is_received(ledger: Ledger, sleeper: Connection) -> None:
    uuids = [ledger.submit() for _ in range(3)]
    sleeper.execute(ARM)
    ledger.connection.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt) select u, 'BACKOFF', 1, 1 from unnest(%s::uuid[]) as u",
        [uuids],
    )
    assert bells(sleeper) == 1


def test_two_writers_of_one_name_do_not_ring_for_each_other(ledger: Ledger, sleeper: Connection) -> None:
    with ledger.database.connect(autocommit=False) as writer:
        writer.execute("select switchyard.submit('noop')")
        ledger.submit()
        writer.commit()
    assert bells(sleeper) == 0


@pytest.mark.parametrize("together", [False, True])
def test_an_end_with_callbacks_wakes_caboose_once(ledger: Ledger, together: bool) -> None:
    own = [{"name": "after", "action": "noop", "on": ["successful"]}]
    uuids = [ledger.submit(callbacks=json.dumps(own)) for _ in range(3)]
    plain = [ledger.submit() for _ in range(2)]
    with ledger.database.connect() as listener:
        listener.execute("listen switchyard_caboose")
        end(ledger, plain, together)
        assert _heard(ledger, listener) == []
        end(ledger, uuids, together)
        assert _heard(ledger, listener) == [""]


def test_a_decision_about_one_action_wakes_caboose_with_its_id(ledger: Ledger) -> None:
    uuid = ledger.submit()
    with ledger.database.connect() as listener:
        listener.execute("listen switchyard_caboose")
        ledger.connection.execute("select switchyard.cancel(%s, 'ann', 'enough')", [uuid])
        assert _heard(ledger, listener) == [str(uuid)]
        ledger.connection.execute("select switchyard.call_back(%s, 'ann', 'they lost it')", [uuid])
        assert _heard(ledger, listener) == [str(uuid)]


def end(ledger: Ledger, uuids: list[UUID], together: bool) -> None:
    """All in one statement, or one after the other in one transaction."""
    statement = (
        "insert into switchyard.event (action_uuid, status, run, attempt)"
        " select u, 'SUCCESSFUL', 1, 1 from unnest(%s::uuid[]) as u"
    )
    with ledger.connection.transaction():
        for group in [uuids] if together else [[uuid] for uuid in uuids]:
            ledger.connection.execute(statement, [group])


def _heard(ledger: Ledger, listener: Connection) -> list[str]:
    """What came before our own notification: they are delivered in the order of their commits."""
    ledger.database.execute("select pg_notify('switchyard_caboose', 'last')")
    heard = list[str]()
    while heard[-1:] != ["last"]:
        heard += [bell.payload for bell in listener.notifies(timeout=60, stop_after=1)]
    return heard[:-1]
