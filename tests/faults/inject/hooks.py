"""Webhook receivers: slow, failing, gone in the middle."""

from functools import partial

from tests.faults.inject.strike import Heal, in_use, over
from tests.faults.plan import Fault
from tests.faults.yard import Yard


def slow(yard: Yard, fault: Fault) -> Heal:
    """They take up to twice as long as anybody waits."""
    yard.receivers.slow(0.5 + 3.5 * fault.amount)
    return partial(yard.receivers.slow, 0.0)


def failing(yard: Yard, fault: Fault) -> Heal:
    """503 to everybody."""
    yard.receivers.failing = True

    def heal() -> None:
        yard.receivers.failing = False

    return heal


def hang_up(yard: Yard, fault: Fault) -> Heal:
    """Every connection is reset, whether the request was read or not."""
    in_use(yard.receivers.network).cut()
    return over


def away(yard: Yard, fault: Fault) -> Heal:
    """Nobody listens any more."""
    yard.receivers.network.refuse()
    return yard.receivers.network.resume
