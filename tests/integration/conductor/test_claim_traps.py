"""A test for each trap of the claim that the design names, against the real locks of a real server."""

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from conductor.claim.claim import claim, claim_orphans, unlock
from conductor.session.arrays import Uuids
from conductor.session.open import open_session
from conductor.session.session import Session, SessionLost
from switchyard.errors import DatabaseUnavailable
from switchyard.handlers import Outcome, Success
from switchyard.ledger import migrate
from tests.integration.conductor.yard import NAME, Script, Yard, ended_once
from tests.parts.database import Database
from tests.parts.postgres import Server
from tests.waiting import eventually

pytestmark = pytest.mark.database
NONE = Uuids.of([])


@pytest.fixture
async def session(yard: Yard) -> AsyncIterator[Session]:
    opened = await open_session(yard.database.url, NAME)
    yield opened
    await opened.close()


async def test_locks_held_are_rows_returned_at_every_step(yard: Yard, session: Session) -> None:
    yard.submit(40)
    first, look = await claim(session, NAME, 10, NONE)
    assert (len(first), look.claimed, yard.ledger.locks()) == (10, 10, 10)
    second, _ = await claim(session, NAME, 10, Uuids.of(first.uuids[:]))
    assert yard.ledger.locks() == 20
    assert set(first.uuids).isdisjoint(second.uuids)
    await unlock(session, first.locks)
    assert yard.ledger.locks() == 10
    await unlock(session, second.locks)
    assert yard.ledger.locks() == 0


async def test_claiming_twice_without_outcomes_never_returns_what_is_held(yard: Yard) -> None:
    uuids = yard.submit(30)
    handler = Script()
    handler.gate.clear()
    yard.start(yard.served(handler, concurrency=20), batch=8)
    await eventually(lambda: handler.flying == 20)
    assert yard.ledger.locks() == 20  # three claims of 8, 8 and 4, none of them twice
    yard.submit(1)  # rings: there is no room, so nothing may happen
    await asyncio.sleep(0.1)  # nobody can tell of what does not happen
    assert (handler.flying, yard.ledger.locks()) == (20, 20)
    handler.gate.set()
    await eventually(lambda: ended_once(yard, uuids))
    assert set(handler.seen.values()) == {1}


async def test_a_window_full_of_peers_claims_is_paged_over(yard: Yard, session: Session) -> None:
    yard.submit(200)
    peer = await open_session(yard.database.url, NAME)
    held, _ = await claim(peer, NAME, 150, NONE)
    mine, look = await claim(session, NAME, 5, NONE)  # a window of 20, and 150 are taken
    assert (len(held), len(mine)) == (150, 5)
    assert not look.skipped
    rest, look = await claim(session, NAME, 100, Uuids.of(mine.uuids[:]))
    assert len(rest) == 45
    assert look.skipped
    await peer.close()
    await eventually(lambda: yard.ledger.locks() == 50)


async def test_an_error_in_mid_claim_drops_the_session_and_its_locks(yard: Yard, session: Session) -> None:
    yard.submit(5)
    yard.database.execute(
        "create or replace function switchyard.unlock(p_lock_ids bigint[]) returns integer language plpgsql as"
        " $$ begin raise exception 'no'; end $$"
    )
    claimed, _ = await claim(session, NAME, 5, NONE)
    assert yard.ledger.locks() == 5
    with pytest.raises(psycopg.Error):
        await unlock(session, claimed.locks)
    assert session.lost
    await eventually(lambda: yard.ledger.locks() == 0)
    with pytest.raises(SessionLost):
        await claim(session, NAME, 5, NONE)


async def test_unlocking_what_is_not_held_drops_the_session(yard: Yard, session: Session) -> None:
    with pytest.raises(AssertionError, match="1 locks were not held"):
        await unlock(session, [42])
    assert session.lost


async def test_a_server_whose_default_is_repeatable_read(yard: Yard) -> None:
    yard.database.execute("alter role postgres set default_transaction_isolation = 'repeatable read'")
    try:
        uuids = yard.submit(2_000)
        opened = await open_session(yard.database.url, NAME)
        assert await opened.rows("show transaction_isolation") == [("read committed",)]
        await opened.close()
        names = [yard.served() for _ in range(4)]
        await yard.drain(*names, batch=20)
    finally:
        yard.database.execute("alter role postgres reset default_transaction_isolation")
    assert ended_once(yard, uuids)
    assert yard.database.execute("select count(*) from switchyard.event") == [(2_000,)]


async def test_a_standby_is_refused(standby: Server) -> None:
    """However much the URL asks for it."""
    for url in (standby.url(), make_conninfo(standby.url(), target_session_attrs="any")):
        with pytest.raises(DatabaseUnavailable, match="read-only"):
            await open_session(url, NAME)


async def test_slots_stay_under_a_quarter_of_the_lock_table(
    yard: Yard, caplog: pytest.LogCaptureFixture
) -> None:
    [[room]] = yard.database.execute(
        "select current_setting('max_locks_per_transaction')::int * current_setting('max_connections')::int / 4"
    )
    slots = "select slots from switchyard.worker order by started_at"
    yard.start(yard.served(Script(), concurrency=room - 100))
    await eventually(lambda: yard.database.execute(slots) == [(room - 100,)])
    yard.start(yard.served(Script(), concurrency=500))
    await eventually(lambda: yard.database.execute(slots) == [(room - 100,), (100,)])
    await eventually(lambda: "fewer slots than configured" in caplog.text)  # logged once the row is there


async def test_a_full_lock_table_is_survived(own_postgres: Server, caplog: pytest.LogCaptureFixture) -> None:
    migrate.upgrade(own_postgres.url())
    yard = Yard(Database("postgres", own_postgres.url()))
    uuids = yard.submit(400)
    hog = psycopg.connect(own_postgres.url(), autocommit=True)
    with pytest.raises(psycopg.errors.OutOfMemory):
        hog.execute("select pg_advisory_lock(n) from generate_series(1, 1000000) as n")
    # Room for a connection, not for the claim: it runs out in the middle.
    hog.execute("select pg_advisory_unlock(n) from generate_series(1, 300) as n")
    handler = Script()
    yard.start(yard.served(handler, concurrency=400))
    await eventually(lambda: "out of shared memory" in caplog.text)
    assert not handler.works
    hog.close()

    def done() -> bool:
        try:
            return ended_once(yard, uuids)
        except psycopg.OperationalError:
            return False  # the server needs a moment to end the hog

    await eventually(done, 30)
    await yard.stop()
    assert set(handler.seen.values()) == {1}
    assert yard.database.execute("select * from switchyard.verify()") == []


async def test_a_poison_outcome_fails_alone(yard: Yard) -> None:
    yard.database.execute(
        "alter table switchyard.event add constraint no_poison check (detail ->> 'poison' is null)"
    )
    [bad, *good] = yard.submit(32)

    def answer(work: object) -> Outcome:
        return Success({"poison": "yes"} if getattr(work, "uuid", None) == bad else {"fine": "yes"})

    handler = Script(answer)
    handler.gate.clear()
    yard.start(yard.served(handler, concurrency=32))
    await eventually(lambda: handler.flying == 32)
    handler.gate.set()
    await eventually(lambda: ended_once(yard, [bad, *good]))
    assert yard.statuses() == {"SUCCESSFUL": 31, "FAILED": 1}
    [[error]] = yard.database.execute("select error from switchyard.thread where status = 'FAILED'")
    assert "could not be written" in error


async def test_what_cannot_be_recorded_in_any_form_is_not_done_again(yard: Yard) -> None:
    [bad, *good] = yard.submit(8)
    yard.database.execute("create sequence refused")
    yard.database.execute(
        "create function refuse() returns trigger language plpgsql as $$ begin"
        f" if new.action_uuid = '{bad}' then raise check_violation using message = nextval('refused'); end if;"
        " return new; end $$"
    )
    yard.database.execute(
        "create trigger a_refuses before insert on switchyard.event for each row execute function refuse()"
    )
    handler = Script()
    yard.start(yard.served(handler, concurrency=8))
    await eventually(lambda: ended_once(yard, good))
    await eventually(lambda: yard.database.execute("select last_value > 8 from refused") == [(True,)])
    assert (handler.seen[bad], yard.ledger.locks(), yard.events(bad)) == (1, 1, [])
    yard.database.execute("drop trigger a_refuses on switchyard.event")
    await eventually(lambda: ended_once(yard, [bad]))
    assert yard.statuses() == {"SUCCESSFUL": 8}


async def test_a_locked_thread_delays_only_itself(yard: Yard) -> None:
    [stuck, *others] = yard.submit(16)
    handler = Script()
    handler.gate.clear()
    yard.start(yard.served(handler, concurrency=16))
    await eventually(lambda: handler.flying == 16)
    with yard.database.connect(autocommit=False) as blocker:
        blocker.execute("select 1 from switchyard.thread where action_uuid = %s for update", (stuck,))
        handler.gate.set()
        await eventually(lambda: ended_once(yard, others))
        assert yard.events(stuck) == []
        more = yard.submit(3)
        await eventually(lambda: ended_once(yard, more))  # and the worker goes on
    await eventually(lambda: ended_once(yard, [stuck]))


async def test_a_server_that_takes_no_writes_keeps_locks_and_stops_dispatching(yard: Yard) -> None:
    yard.submit(4)
    handler = Script()
    handler.gate.clear()
    yard.start(yard.served(handler, concurrency=2))
    await eventually(lambda: handler.flying == 2)
    yard.database.execute(
        "create function refuse_writes() returns trigger language plpgsql as $$ begin"
        " raise exception 'no space left' using errcode = 'disk_full'; end $$;"
    )
    yard.database.execute(
        "create trigger a_refuses before insert on switchyard.event for each statement"
        " execute function refuse_writes()"
    )
    handler.gate.set()
    await eventually(lambda: yard.metrics.dispatch.held_up.labels(NAME)._value.get() == 1)
    assert yard.ledger.locks() == 2
    assert len(handler.works) == 2
    yard.database.execute("drop trigger a_refuses on switchyard.event")
    await eventually(lambda: yard.statuses() == {"SUCCESSFUL": 4})
    assert set(handler.seen.values()) == {1}


async def test_an_open_submit_does_not_delay_the_wake_up_of_a_sleeping_worker(yard: Yard) -> None:
    with yard.database.connect(autocommit=False) as submitter:
        submitter.execute("insert into switchyard.action (action_name) values ('drill')")
        yard.start(yard.served(), poll="1h")
        others = yard.submit(1)  # committed while the other is open: found by a nap
        await eventually(lambda: ended_once(yard, others), 2.5)
        assert yard.armed() == 0
        submitter.commit()
    await eventually(lambda: yard.statuses() == {"SUCCESSFUL": 2}, 2.5)
    await eventually(lambda: yard.armed() == 1)


async def test_orphans_are_seen_again_before_they_are_taken(yard: Yard, session: Session) -> None:
    [uuid] = yard.submit(1)
    running = "insert into switchyard.event (action_uuid, status, run, attempt) values (%s, 'RUNNING', 1, 1)"
    yard.database.execute(running, uuid)
    peer = await open_session(yard.database.url, NAME)
    mine = await claim_orphans(peer, NAME, 10, NONE)
    assert [action.uuid for action in mine] == [uuid]
    assert len(await claim_orphans(session, NAME, 10, NONE)) == 0  # its conductor lives
    await peer.close()
    await eventually(lambda: yard.ledger.locks() == 0)
    assert [action.uuid for action in await claim_orphans(session, NAME, 10, NONE)] == [uuid]
