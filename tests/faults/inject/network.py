"""The way to Postgres: cut, silent (half-open at both ends), refusing, slow."""

from tests.faults.inject.strike import Heal, in_use, over
from tests.faults.plan import Fault
from tests.faults.yard import Yard
from tests.parts.proxy import Proxy


def cut(yard: Yard, fault: Fault) -> Heal:
    """Every connection of one program is reset; it may connect again at once."""
    connected(yard, fault).cut()
    return over


def silence(yard: Yard, fault: Fault) -> Heal:
    """Both ends stay connected and hear nothing; what was sent meanwhile arrives afterwards."""
    network = connected(yard, fault)
    network.silence()
    return network.resume


def refuse(yard: Yard, fault: Fault) -> Heal:
    """Reset, and no new connection either."""
    network = connected(yard, fault)
    network.refuse()
    return network.resume


def delay(yard: Yard, fault: Fault) -> Heal:
    """Every packet comes up to half a second late."""
    network = connected(yard, fault)
    network.delay(0.5 * fault.amount)
    return network.resume


def connected(yard: Yard, fault: Fault) -> Proxy:
    """The target's way to Postgres, while it is on it."""
    submits = fault.target == "submitter"
    network = yard.submitting if submits else yard.programs[fault.target].network
    assert network is not None
    return in_use(network)
