"""Claims while an old snapshot is open: they read no more, and find at once what enters behind their position."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from tests.integration.ledger.ledger import Connection, Ledger, claim, write_event
from tests.waiting import until

pytestmark = pytest.mark.database

FILL = "insert into switchyard.action (action_name) select 'noop' from generate_series(1, %s)"
END = """insert into switchyard.event (action_uuid, status, run, attempt)
  select y.action_uuid, %s::switchyard.status, y.run, y.attempt + 1 from switchyard.yard y where y.action_uuid = any (%s)"""
RELEASE = "select switchyard.unlock(array(select switchyard.uuid_lock(u) from unnest(%s::uuid[]) as u))"


def finish(connection: Connection, uuids: list[UUID], status: str = "SUCCESSFUL") -> None:
    """Record an end for each, then unlock, as a conductor does."""
    connection.execute(END, [status, uuids])
    connection.execute(RELEASE, [uuids])


def drain(connection: Connection, count: int) -> None:
    connection.execute(FILL, [count])
    while taken := claim(connection, 500):
        finish(connection, taken)


@contextmanager
def old_snapshot(ledger: Ledger) -> Iterator[None]:
    with ledger.database.connect(autocommit=False) as holder:
        holder.execute("set transaction isolation level repeatable read")
        holder.execute("select count(*) from switchyard.yard")
        yield


def blocks(connection: Connection) -> int:
    """Blocks that a claim of one touches; what it claims is finished."""
    connection.execute(FILL, [1])
    count = claim_blocks(connection)
    [(uuid,)] = connection.execute(
        "select action_uuid from switchyard.yard where status = 'PENDING'"
    ).fetchall()
    finish(connection, [uuid])
    return count


def claim_blocks(connection: Connection) -> int:
    """Blocks that a claim of one touches."""
    [(plan,)] = connection.execute(
        "explain (analyze, buffers, format json) select * from switchyard.claim('noop', 1)"
    ).fetchall()
    top = plan[0]["Plan"]
    count: int = top["Shared Hit Blocks"] + top["Shared Read Blocks"]
    return count


def test_a_claim_reads_at_most_twice_the_blocks_after_ten_thousand_ends(ledger: Ledger) -> None:
    worker = ledger.connection
    drain(worker, 500)
    worker.execute("vacuum analyze switchyard.yard")
    drain(worker, 10)
    without = min(blocks(worker) for _ in range(3))
    with old_snapshot(ledger):
        for _ in range(20):
            drain(worker, 500)
        # Autovacuum may analyze the yard just then; the next claim plans again, and reads catalogs once.
        assert sorted(blocks(worker) for _ in range(3))[1] <= 2 * without


def late_commit(ledger: Ledger, moved: Callable[[], None]) -> UUID:
    with ledger.database.connect(autocommit=False) as writer:
        [(uuid,)] = writer.execute("select switchyard.submit('noop')").fetchall()
        moved()
        writer.commit()
    found: UUID = uuid
    return found


def retriggered(ledger: Ledger, moved: Callable[[], None]) -> UUID:
    uuid = ledger.submit()
    assert ledger.claim(1) == [uuid]
    finish(ledger.connection, [uuid], "FAILED")
    moved()
    ledger.connection.execute("select switchyard.retrigger(%s, 'ann', 'again')", [uuid])
    return uuid


def due_backoff(ledger: Ledger, moved: Callable[[], None]) -> UUID:
    uuid = ledger.submit()
    assert ledger.claim(1) == [uuid]
    ledger.connection.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt, retry_seconds) values (%s, 'BACKOFF', 1, 1, 0.3)",
        [uuid],
    )
    ledger.connection.execute(RELEASE, [[uuid]])
    moved()
    until(lambda: ledger.connection.execute(
        "select 1 from switchyard.yard where action_uuid = %s and due <= clock_timestamp()", [uuid]).fetchall()
    )  # fmt: skip
    return uuid


def higher_priority(ledger: Ledger, moved: Callable[[], None]) -> UUID:
    moved()
    return ledger.submit(priority=1)


@pytest.mark.parametrize("enters", [late_commit, retriggered, due_backoff, higher_priority])
def test_what_enters_behind_the_position_is_the_next_claimed(
    ledger: Ledger, enters: Callable[[Ledger, Callable[[], None]], UUID]
) -> None:
    worker = ledger.connection

    def moved() -> None:
        """The worker's position is beyond all that was there, and work is left after it."""
        worker.execute(FILL, [50])
        taken = claim(worker, 40)
        assert len(taken) == 40
        finish(worker, taken)

    with old_snapshot(ledger):
        drain(worker, 100)
        uuid = enters(ledger, moved)
        assert claim(worker, 1) == [uuid]


@pytest.mark.parametrize("count", [1, 3])
def test_a_retry_that_was_due_before_it_was_committed_is_the_next_claimed(ledger: Ledger, count: int) -> None:
    """One event by itself, and several at once."""
    worker = ledger.connection
    worker.execute(FILL, [count])
    with ledger.database.connect(autocommit=False) as peer:
        taken = claim(peer, count)
        peer.execute(END, ["BACKOFF", taken])
        assert claim(worker, count) == []
        peer.commit()
        peer.execute(RELEASE, [taken])
        assert claim(worker, count) == taken


def test_more_arrivals_than_are_worth_reading_give_the_position_up(ledger: Ledger) -> None:
    drain(ledger.connection, 20)
    first = ledger.submit(priority=7)
    ledger.connection.execute(FILL, [5100])
    assert ledger.claim(1) == [first]


def test_what_a_peer_held_is_found_when_the_peer_is_gone(ledger: Ledger) -> None:
    worker = ledger.connection
    ledger.connection.execute(FILL, [30])
    with ledger.database.connect() as peer:
        theirs = claim(peer, 5)
        finish(worker, claim(worker, 10))
        until(lambda: _one_more(ledger) and _passed(worker) >= set(theirs))
        finish(worker, claim(worker, 10))
        peer.execute("select pg_advisory_unlock_all()")
        assert sorted(claim(worker, 20))[:5] == sorted(theirs)


def ahead_of_a_peer(ledger: Ledger, peer: Connection) -> list[UUID]:
    """A peer holds the first five, and the worker has looked beyond them; there is more."""
    ledger.connection.execute(FILL, [30])
    theirs = claim(peer, 5)
    finish(ledger.connection, claim(ledger.connection, 10))
    return theirs


def test_what_a_peer_gives_back_is_found_at_once_where_there_is_not_enough_else(ledger: Ledger) -> None:
    with ledger.database.connect() as peer:
        theirs = ahead_of_a_peer(ledger, peer)
        peer.execute("select pg_advisory_unlock_all()")
        taken = claim(ledger.connection, 30)
    assert len(taken) == len(set(taken)) == 20
    assert set(theirs) < set(taken)


@pytest.mark.parametrize("stepped_over", [False, True])
def test_what_a_peer_gives_back_is_found_soon_where_there_is_always_more(
    ledger: Ledger, *, stepped_over: bool
) -> None:
    with ledger.database.connect() as peer:
        theirs = ahead_of_a_peer(ledger, peer)
        if stepped_over:
            until(lambda: _one_more(ledger) and _passed(ledger.connection) >= set(theirs))
        peer.execute("select pg_advisory_unlock_all()")
        missing = set(theirs)

        def found() -> bool:
            missing.difference_update(_one_more(ledger))
            return not missing

        until(found, 30)  # before the minute after which every claim starts at the front


def test_what_falls_due_before_the_last_key_is_the_next_claimed(ledger: Ledger) -> None:
    with ledger.database.connect() as peer:
        ahead_of_a_peer(ledger, peer)
        urgent = ledger.submit(priority=1, start_after="2001-01-01")
        assert claim(ledger.connection, 1) == [urgent]


def test_what_arrives_before_the_last_key_is_the_next_claimed_and_once(ledger: Ledger) -> None:
    worker = ledger.connection
    with ledger.database.connect() as peer:
        theirs = ahead_of_a_peer(ledger, peer)
        urgent = ledger.submit(priority=1)
        held = claim(worker, 1)
        assert held == [urgent]
        taken = claim(worker, 30, held=held)
        assert len(taken) == 15
        assert not {urgent, *theirs} & set(taken)


def test_what_arrived_held_before_the_last_key_is_claimed_once(ledger: Ledger) -> None:
    worker = ledger.connection
    with ledger.database.connect() as peer:
        theirs = ahead_of_a_peer(ledger, peer)
        urgent = ledger.submit(priority=1)
        theirs += claim(peer, 1)
        assert urgent in theirs
        finish(worker, claim(worker, 1))
        peer.execute("select pg_advisory_unlock_all()")
        taken = claim(worker, 30)
    assert len(taken) == len(set(taken)) == 20
    assert set(theirs) < set(taken)


def test_what_one_peer_holds_behind_what_another_holds_ahead_is_not_lost(ledger: Ledger) -> None:
    """The claim looks ahead first, and then again from the position: what was held ahead moves no position there."""
    worker = ledger.connection
    with ledger.database.connect() as peer, ledger.database.connect() as second:
        theirs = ahead_of_a_peer(ledger, peer)
        more = claim(second, 5)
        rest = claim(worker, 30)
        assert len(rest) == 10
        for each in (peer, second):
            each.execute("select pg_advisory_unlock_all()")
        assert set(claim(worker, 30, held=rest)) == {*theirs, *more}


def test_what_is_in_flight_is_not_tried_by_every_claim(ledger: Ledger) -> None:
    """A claim without a position walks over what a peer holds; one right after it starts behind that."""
    worker = ledger.connection
    walked, ahead = [], []
    with ledger.database.connect() as peer:
        worker.execute(FILL, [4000])
        assert len(claim(peer, 3000)) == 3000
        for _ in range(5):
            worker.execute("select switchyard.forget_position()")
            walked.append(claim_blocks(worker))
            ahead.append(claim_blocks(worker))
    assert min(ahead) * 5 < min(walked)


def _one_more(ledger: Ledger) -> list[UUID]:
    """Submits one more, claims one and ends it."""
    ledger.connection.execute(FILL, [1])
    got = claim(ledger.connection, 1)
    finish(ledger.connection, got)
    return got


def _passed(worker: Connection) -> set[UUID]:
    """What the position stepped over."""
    [(passed,)] = worker.execute(
        "select (current_setting('switchyard.position')::switchyard.claim_position).passed"
    ).fetchall()
    return set(passed)


def test_a_new_run_of_what_this_session_still_holds_is_claimed_once_it_is_unlocked(ledger: Ledger) -> None:
    """A cancel and a retrigger while it is in flight: its row is ready, and its lock is ours."""
    worker = ledger.connection
    uuid = ledger.submit()
    assert claim(worker, 1) == [uuid]
    worker.execute("select switchyard.cancel(%s, 'ann', 'x')", [uuid])
    worker.execute("select switchyard.retrigger(%s, 'ann', 'x')", [uuid])
    other = ledger.submit()
    assert claim(worker, 5, held=[uuid]) == [other]
    finish(worker, [other])
    write_event(worker, uuid, "SUCCESSFUL", 1, 1)  # of the first run: ignored
    worker.execute(RELEASE, [[uuid]])
    assert claim(worker, 5) == [uuid]
    assert ledger.state(uuid) == ("PENDING", 2, 0)


def test_what_was_released_without_an_outcome_is_claimed_again(ledger: Ledger) -> None:
    uuids = [ledger.submit() for _ in range(3)]
    taken: list[Any] = ledger.claim(3)
    assert taken == uuids
    ledger.connection.execute(RELEASE.replace("unlock", "release").encode(), [taken[:2]])
    assert ledger.claim(3, held=[uuids[2]]) == uuids[:2]


def test_an_action_that_is_held_back_forever_is_neither_claimed_nor_due(ledger: Ledger) -> None:
    uuid = ledger.submit()
    ledger.connection.execute("update switchyard.yard set due = 'infinity'")
    for _ in range(2):
        [(uuids, next_due)] = ledger.connection.execute(
            "select uuids, next_due from switchyard.claim('noop', 5)"
        ).fetchall()
        assert (uuids, next_due) == ([], None)
    ledger.connection.execute("update switchyard.yard set due = null, entered = pg_current_xact_id()")
    assert ledger.claim(5) == [uuid]
