"""When a worker looks: the rhythm on a clock that the test moves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.claim.claim import Look
from conductor.worker.wakeup import NAP, QUIET, Bell
from tests.unit.conductor.clock import Clock

LISTEN_WAIT, POLL = 0.02, 30.0


def look(claimed: int = 0, *, wanted: int = 50, skipped: bool = False, due_in: float | None = None) -> Look:
    return Look(wanted, claimed, skipped, due_in)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def bell(clock: Clock) -> Bell:
    return Bell(clock, listen_wait=LISTEN_WAIT, poll=POLL)


def sleep(bell: Bell, seen: Look | None = None) -> None:
    """One empty look, then armed."""
    bell.looking()
    bell.looked(seen or look())
    bell.armed = True


def test_the_first_look_is_at_once(bell: Bell) -> None:
    assert bell.wait() == 0


def test_armed_and_idle_sleeps_until_the_poll(bell: Bell, clock: Clock) -> None:
    sleep(bell)
    assert bell.wait() == POLL
    clock.now += POLL
    assert bell.wait() == 0


def test_a_bell_that_finds_it_idle_is_answered_at_once(bell: Bell, clock: Clock) -> None:
    sleep(bell)
    clock.now += 0.001
    bell.ring()
    assert bell.wait() == 0


def test_a_ring_during_the_look_asks_for_another(bell: Bell) -> None:
    bell.looking()
    bell.ring()
    bell.looked(look())
    assert bell.wait() == 0
    assert not bell.wants_arming()


def test_a_bell_that_named_its_action_leaves_the_rest_as_the_last_look_saw_it(
    bell: Bell, clock: Clock
) -> None:
    sleep(bell, look(due_in=10.0))
    assert bell.still
    clock.now += 4
    bell.answered(look(1, wanted=1))
    assert bell.still
    assert bell.wait() == pytest.approx(6.0)


def test_a_named_action_that_a_peer_holds_is_looked_for_again_soon(bell: Bell, clock: Clock) -> None:
    sleep(bell)
    bell.answered(look(wanted=1, skipped=True))
    assert bell.wait() == pytest.approx(NAP)


def test_named_actions_count_as_found(bell: Bell) -> None:
    sleep(bell)
    for _ in range(9):
        bell.answered(look(1, wanted=1))
    assert bell.busy
    assert not bell.still


def test_a_full_batch_is_followed_at_once(bell: Bell) -> None:
    bell.looking()
    bell.looked(look(50))
    assert bell.more
    assert bell.wait() == 0
    assert not bell.wants_arming()


def test_busy_takes_bells_together_and_disarms(bell: Bell, clock: Clock) -> None:
    sleep(bell)
    bell.ring()
    bell.looking()
    bell.looked(look(20))
    assert bell.wants_disarming()
    clock.now += 0.005
    bell.ring()
    assert bell.wait() == pytest.approx(LISTEN_WAIT - 0.005)


def test_busy_and_not_armed_looks_every_listen_wait_until_it_is_quiet(bell: Bell, clock: Clock) -> None:
    bell.looking()
    bell.looked(look(20))
    assert bell.wait() == LISTEN_WAIT
    assert not bell.wants_arming()
    clock.now += QUIET + 0.001
    bell.looking()
    bell.looked(look())
    assert bell.wants_arming()


def test_light_traffic_stays_armed(bell: Bell, clock: Clock) -> None:
    sleep(bell)
    for _ in range(100):
        clock.now += 0.02
        bell.ring()
        assert bell.wait() == 0
        bell.looking()
        bell.looked(look(1))
        assert not bell.wants_disarming()


def test_not_armed_naps_for_longer_and_longer_until_something_is_found(bell: Bell) -> None:
    """A writer that was in flight has committed a moment later; a peer that is armed stays so."""
    naps = []
    for found in (0, 0, 0, 0, 0, 0, 1, 0):
        bell.looking()
        bell.looked(look(found))
        bell.arm(got=False)
        naps.append(bell.wait())
    assert naps == pytest.approx([0.04, 0.08, 0.16, 0.32, NAP, NAP, 0.04, 0.08])


def test_what_others_hold_is_looked_at_again_soon(bell: Bell) -> None:
    sleep(bell, look(skipped=True))
    assert bell.wait() == NAP


def test_what_is_due_under_an_open_transaction_makes_no_worker_spin(bell: Bell, clock: Clock) -> None:
    sleep(bell, look(due_in=-3.0))
    assert bell.wait() == LISTEN_WAIT
    clock.now += LISTEN_WAIT
    assert bell.wait() == 0


@given(st.floats(0, 100), st.booleans(), st.booleans())
def test_never_later_than_what_is_due(due: float, armed: bool, skipped: bool) -> None:
    bell = Bell(Clock(), listen_wait=LISTEN_WAIT, poll=POLL)
    bell.looking()
    bell.looked(look(due_in=due, skipped=skipped))
    bell.armed = armed
    assert bell.wait() <= due
    assert bell.wait() <= (NAP if skipped or not armed else POLL)


def test_the_look_after_arming_finds_what_was_committed_before_the_lock(bell: Bell) -> None:
    """Without it, such work would wait for the poll: nobody rings for it."""
    bell.looking()
    bell.looked(look())
    assert bell.wants_arming()
    bell.arm(got=True)
    assert bell.armed
    assert bell.wait() == 0
    assert not bell.still
    bell.looking()
    bell.looked(look())
    assert bell.wait() == POLL


def test_a_bell_that_could_not_be_armed_is_tried_again_after_the_next_look(bell: Bell) -> None:
    bell.looking()
    bell.looked(look())
    bell.arm(got=False)
    assert not bell.armed
    assert not bell.wants_arming()
    assert bell.wait() == pytest.approx(2 * LISTEN_WAIT)
    bell.looking()
    bell.looked(look())
    assert bell.wants_arming()


@pytest.mark.parametrize("start", [1e6, -1e6])
def test_the_wait_depends_on_no_absolute_time(start: float) -> None:
    clock = Clock()
    clock.now = start
    bell = Bell(clock, listen_wait=LISTEN_WAIT, poll=POLL)
    sleep(bell)
    clock.now += 10
    assert bell.wait() == pytest.approx(POLL - 10)


def test_a_single_free_slot_that_was_filled_is_followed_at_once(bell: Bell) -> None:
    bell.looking()
    bell.looked(look(1, wanted=1))
    assert bell.more
    assert not bell.drained
    assert bell.wait() == 0


def test_a_look_that_wanted_nothing_does_not_report_more(bell: Bell) -> None:
    assert not bell.drained
    bell.looking()
    bell.looked(look(0, wanted=0))
    assert not bell.more
    assert bell.drained


@pytest.mark.parametrize(("found", "busy"), [(8, False), (9, True)])
def test_more_than_eight_within_a_tenth_of_a_second_is_busy(
    bell: Bell, clock: Clock, found: int, busy: bool
) -> None:
    for _ in range(found):
        bell.looking()
        bell.looked(look(1))
    clock.now += QUIET
    assert bell.busy is busy
    clock.now += 0.001
    assert not bell.busy


def test_before_the_first_look_nothing_is_armed(bell: Bell) -> None:
    """What is there already rings no bell."""
    assert not bell.still
    assert not bell.wants_arming()
