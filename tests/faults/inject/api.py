"""The Kubernetes API server: away, silent, killed; and the Argo controller killed."""

from tests.faults.cluster import Flows
from tests.faults.inject.strike import Heal, in_use, over
from tests.faults.plan import Fault
from tests.faults.yard import Yard


def away(yard: Yard, fault: Fault) -> Heal:
    """Nobody listens any more."""
    network = in_use(_flows(yard).network)
    network.refuse()
    return network.resume


def silence(yard: Yard, fault: Fault) -> Heal:
    """Connected, and no answer; what was sent meanwhile arrives afterwards."""
    network = in_use(_flows(yard).network)
    network.silence()
    return network.resume


def hang_up(yard: Yard, fault: Fault) -> Heal:
    """Every connection is reset, watches too."""
    in_use(_flows(yard).network).cut()
    return over


def crash(yard: Yard, fault: Fault) -> Heal:
    """SIGKILL; it comes back, and the Argo controller with it, now and then without the history of watches."""
    cluster = _flows(yard).cluster
    if fault.amount < 0.5:
        cluster.compact()
    cluster.restart()
    return over


def controller(yard: Yard, fault: Fault) -> Heal:
    """SIGKILL to the Argo controller; it is started again."""
    argo = _flows(yard).argo
    argo.process.kill()
    argo.start()
    return over


def _flows(yard: Yard) -> Flows:
    assert yard.flows is not None
    return yard.flows
