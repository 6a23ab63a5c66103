"""What the host does: a full disk under store and spool, a wall clock that jumps."""

from functools import partial

from tests.faults.inject.strike import Heal
from tests.faults.plan import Fault
from tests.faults.yard import Yard

DAY = 86_400


def full_disk(yard: Yard, fault: Fault) -> Heal:
    """No space left, for the store and for the spool."""
    assert yard.disk is not None
    yard.disk.fill()
    heal: Heal = yard.disk.free
    return heal


def clock_jump(yard: Yard, fault: Fault) -> Heal:
    """One program's wall clock jumps by up to forty days, ahead or back; then it is put right."""
    clock = yard.programs[fault.target].clock
    assert clock is not None
    clock.shift(int((fault.amount - 0.5) * 80 * DAY))
    return partial(clock.shift, 0)
