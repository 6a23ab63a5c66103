"""The claim in SQL: order, locks held = rows returned, and what must not be handed out."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from tests.integration.ledger.ledger import Connection, Ledger, claim, locks_held, waits_for_a_lock
from tests.waiting import until

pytestmark = pytest.mark.database


def outcome(connection: Connection, uuids: list[UUID], status: str = "SUCCESSFUL") -> None:
    connection.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt) select u, %s, 1, 1 from unnest(%s::uuid[]) u",
        [status, uuids],
    )


def test_priority_first_then_age(ledger: Ledger) -> None:
    late = ledger.submit(priority=200)
    old, young = ledger.submit(), ledger.submit()
    urgent = ledger.submit(priority=-5)
    assert ledger.claim(3) == [urgent, old, young]
    assert ledger.claim(3, held=[urgent, old, young]) == [late]
    assert locks_held(ledger.connection) == 4


def test_only_that_name_is_claimed(ledger: Ledger) -> None:
    ledger.submit("other")
    mine = ledger.submit("noop")
    assert ledger.claim() == [mine]


def test_what_is_held_is_not_claimed_again(ledger: Ledger) -> None:
    """Session locks are re-entrant: without the list the same rows came back, and pg_locks did not show it."""
    uuids = [ledger.submit() for _ in range(10)]
    assert ledger.claim(4) == uuids[:4]
    assert ledger.claim(4, held=uuids[:4]) == uuids[4:8]
    assert ledger.claim(4, held=uuids[:8]) == uuids[8:]
    assert ledger.claim(4, held=uuids) == []
    assert locks_held(ledger.connection) == 10


def test_a_window_full_of_peers_claims_is_paged_over(ledger: Ledger) -> None:
    uuids = [ledger.submit() for _ in range(60)]
    with ledger.database.connect() as peer:
        assert claim(peer, 50) == uuids[:50]
        assert ledger.claim(2) == uuids[50:52]
        assert locks_held(ledger.connection) == 2


def test_it_reports_whether_others_hold_some_and_when_the_next_is_due(ledger: Ledger) -> None:
    ledger.submit()
    later = ledger.submit(start_after="2099-01-01")
    look = "select cardinality(uuids), skipped, next_due from switchyard.claim('noop', 10, %s)"
    with ledger.database.connect() as peer:
        assert len(claim(peer)) == 1
        [(count, skipped, due)] = ledger.connection.execute(look, [[]]).fetchall()
        assert (count, skipped) == (0, True)
        assert due == ledger.thread(later)["next_attempt_after"]
        peer.execute("select pg_advisory_unlock_all()")
    [(count, skipped, due)] = ledger.connection.execute(look, [[]]).fetchall()
    assert (count, skipped) == (1, False)


def test_start_time_and_backoff_are_waited_for(ledger: Ledger) -> None:
    uuid = ledger.submit(start_after="2099-01-01")
    past = ledger.submit(start_after="2001-01-01")
    assert ledger.claim() == [past]
    outcome(ledger.connection, [past], "BACKOFF")
    ledger.connection.execute("select switchyard.unlock(array[switchyard.uuid_lock(%s)])", [past])
    assert ledger.claim() == [past]
    assert ledger.thread(uuid)["status"] == "PENDING"


def test_a_paused_name_is_not_claimed_until_it_is_resumed(ledger: Ledger) -> None:
    uuid = ledger.submit()
    assert ledger.connection.execute("select switchyard.pause('noop', 'ann', 'storm')").fetchall() == [
        (True,)
    ]
    assert ledger.connection.execute("select switchyard.pause('noop', 'bob', 'storm')").fetchall() == [
        (False,)
    ]
    assert ledger.claim() == []
    ledger.connection.execute(
        "insert into switchyard.paused (action_name, actor, reason) values ('other', 'ann', 'x')"
    )
    assert ledger.connection.execute("select switchyard.resume('noop', 'ann', 'calm')").fetchall() == [
        (True,)
    ]
    assert ledger.connection.execute("select action_name from switchyard.paused").fetchall() == [("other",)]
    assert ledger.claim() == [uuid]
    journal = ledger.connection.execute(
        "select kind, subject, actor, reason from switchyard.journal"
    ).fetchall()
    assert journal == [("pause", "noop", "ann", "storm"), ("resume", "noop", "ann", "calm")]


ONE = "select skipped, lock_id is not null, run, attempt, workflow from switchyard.claim_one('noop', %s)"
NOTHING = [(False, False, None, None, None)]


def test_one_that_is_named_is_locked_and_described(ledger: Ledger) -> None:
    uuid = ledger.submit()
    assert ledger.connection.execute(ONE, [uuid]).fetchall() == [(False, True, 1, 0, None)]
    assert locks_held(ledger.connection) == 1


@pytest.mark.parametrize(("resume_from", "resumes"), [("failed", True), ("start", False)])
def test_a_retriggered_run_says_whether_it_resumes(
    ledger: Ledger, resume_from: str, *, resumes: bool
) -> None:
    fresh, again = ledger.submit(), ledger.submit()
    outcome(ledger.connection, [again], "FAILED")
    ledger.connection.execute("select switchyard.retrigger(%s, 'ann', 'x', %s)", [again, resume_from])
    described = "select resumed from switchyard.describe(%s, %s)"
    [(resumed,)] = ledger.connection.execute(described, [[fresh, again], [1, 2]]).fetchall()
    assert (resumed or []) == ([again] if resumes else [])
    one = "select run, resumes from switchyard.claim_one('noop', %s)"
    assert ledger.connection.execute(one, [again]).fetchall() == [(2, resumes)]
    assert ledger.connection.execute(one, [fresh]).fetchall() == [(1, None)]


def test_one_that_a_peer_holds_is_skipped_and_one_that_it_ended_is_let_go(ledger: Ledger) -> None:
    uuid = ledger.submit()
    with ledger.database.connect() as peer:
        assert claim(peer) == [uuid]
        assert ledger.connection.execute(ONE, [uuid]).fetchall() == [(True, False, None, None, None)]
        outcome(peer, [uuid])
        peer.execute("select pg_advisory_unlock_all()")  # whoever only hangs up lets go some time later
        assert ledger.connection.execute(ONE, [uuid]).fetchall() == NOTHING
    assert locks_held(ledger.connection) == 0


def test_one_that_may_not_start_is_let_go(ledger: Ledger) -> None:
    other, later, paused = ledger.submit("other"), ledger.submit(start_after="2099-01-01"), ledger.submit()
    ledger.connection.execute("select switchyard.pause('noop', 'ann', 'storm')")
    for uuid in (other, paused, UUID(int=0)):
        assert ledger.connection.execute(ONE, [uuid]).fetchall() == NOTHING
    ledger.connection.execute("select switchyard.resume('noop', 'ann', 'calm')")
    assert ledger.connection.execute(ONE, [later]).fetchall() == NOTHING
    assert locks_held(ledger.connection) == 0


def test_without_an_id_nothing_is_locked(ledger: Ledger) -> None:
    ledger.submit()
    assert ledger.connection.execute(ONE, [None]).fetchall() == [(None, False, None, None, None)]
    assert locks_held(ledger.connection) == 0


def test_unlock_counts_what_was_really_held(ledger: Ledger) -> None:
    [uuid] = [ledger.submit()]
    assert ledger.claim() == [uuid]
    unlock = "select switchyard.unlock(array[switchyard.uuid_lock(%s), 42])"
    assert ledger.connection.execute(unlock, [uuid]).fetchall() == [(1,)]
    assert locks_held(ledger.connection) == 0


def test_orphans_are_running_with_their_lock_free(ledger: Ledger) -> None:
    uuids = [ledger.submit() for _ in range(3)]
    orphans = "select action_uuid from switchyard.claim_orphans('noop', 10)"
    with ledger.database.connect() as conductor:
        assert claim(conductor) == uuids
        outcome(conductor, uuids[:2], "RUNNING")
        assert ledger.connection.execute(orphans).fetchall() == []
        outcome(conductor, uuids[:1])
        conductor.execute("select pg_advisory_unlock_all()")
    assert ledger.connection.execute(orphans).fetchall() == [(uuids[1],)]
    assert locks_held(ledger.connection) == 1


def test_what_is_due_under_an_open_transaction_is_reported_and_not_waited_for(ledger: Ledger) -> None:
    """The claim passes over it at once and says that it is overdue: the bell then looks again in a moment."""
    uuid = ledger.submit(start_after="2000-01-01")
    look = "select cardinality(uuids), next_due < clock_timestamp() from switchyard.claim('noop', 10)"
    with ledger.database.connect() as writer, writer.transaction():
        writer.execute("select from switchyard.yard where action_uuid = %s for update", [uuid])
        assert ledger.connection.execute(look).fetchall() == [(0, True)]
    assert ledger.claim() == [uuid]


def test_a_page_that_is_partly_a_peers_is_continued_behind_itself(ledger: Ledger) -> None:
    """Begun again at its start, it would take its own locks twice and return those actions twice."""
    uuids = [ledger.submit() for _ in range(30)]
    with ledger.database.connect() as peer:
        assert claim(peer, 5) == uuids[:5]
        assert ledger.claim(10) == uuids[5:15]
    unlock = "select switchyard.unlock(array(select switchyard.uuid_lock(u) from unnest(%s::uuid[]) as u))"
    ledger.connection.execute(unlock, [uuids[5:15]])
    assert locks_held(ledger.connection) == 0


def test_what_is_due_soon_does_not_start_with_what_is_due_now(ledger: Ledger) -> None:
    now = ledger.submit(start_after="2001-01-01")
    ledger.connection.execute(
        "insert into switchyard.action (action_name, start_after) values ('noop', now() + interval '40 seconds')"
    )
    assert ledger.claim() == [now]


ORPHANS = "select action_uuid from switchyard.claim_orphans('noop', %s, %s)"


def test_what_became_due_beyond_the_position_is_claimed_once(ledger: Ledger) -> None:
    """It is found where the search goes on; found behind the position too, its lock would be taken twice."""
    first = ledger.submit()
    [(start,)] = ledger.connection.execute("select clock_timestamp() + interval '500 ms'").fetchall()
    later = ledger.submit(priority=200, start_after=start)
    assert ledger.claim(1) == [first]
    passed = "select clock_timestamp() > %s"
    until(lambda: ledger.connection.execute(passed, [start]).fetchall() == [(True,)])
    assert ledger.claim(5, held=[first]) == [later]
    assert locks_held(ledger.connection) == 2


def test_what_this_connection_runs_is_not_an_orphan_and_hides_none(ledger: Ledger) -> None:
    *mine, orphan = [ledger.submit() for _ in range(6)]
    assert ledger.claim(5) == mine
    outcome(ledger.connection, [*mine, orphan], "RUNNING")
    assert ledger.connection.execute(ORPHANS, [1, mine]).fetchall() == [(orphan,)]
    assert ledger.connection.execute(ORPHANS, [1, [*mine, orphan]]).fetchall() == []
    locks = "select switchyard.unlock(array(select switchyard.uuid_lock(u) from unnest(%s::uuid[]) as u))"
    assert ledger.connection.execute(locks, [[*mine, orphan]]).fetchall() == [(6,)]
    assert locks_held(ledger.connection) == 0


def test_an_orphan_that_ended_before_its_lock_was_free_is_let_go(ledger: Ledger) -> None:
    """The look for orphans is held up between its first snapshot and its locks, while the action ends."""
    uuid = ledger.submit()
    outcome(ledger.connection, [uuid], "RUNNING")
    ledger.connection.execute(
        """create or replace function switchyard.try_lock_unless_held(p_uuid uuid, p_lock bigint, p_held uuid[])
        returns boolean language plpgsql volatile as $$ begin
          perform pg_advisory_xact_lock_shared(42); return pg_try_advisory_lock(p_lock); end $$"""
    )
    with ledger.database.connect() as finder, ThreadPoolExecutor(1) as pool:
        ledger.connection.execute("select pg_advisory_lock(42)")
        found = pool.submit(lambda: finder.execute(ORPHANS, [10, []]).fetchall())
        waits_for_a_lock(ledger.database, finder.info.backend_pid)
        outcome(ledger.connection, [uuid])
        ledger.connection.execute("select pg_advisory_unlock(42)")
        assert found.result(timeout=60) == []
        assert locks_held(finder) == 0
