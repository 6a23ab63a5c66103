"""Programs of ours: killed, killed with all they are starting, stopped for longer than any time-out."""

from tests.faults.inject.strike import Heal, over
from tests.faults.plan import Fault
from tests.faults.yard import Yard


def kill(yard: Yard, fault: Fault) -> Heal:
    """SIGKILL, and somebody starts it again."""
    yard.programs[fault.target].kill()
    return over


def power_cut(yard: Yard, fault: Fault) -> Heal:
    """SIGKILL to it and to every process that it is just starting."""
    yard.programs[fault.target].kill_family()
    return over


def freeze(yard: Yard, fault: Fault) -> Heal:
    """SIGSTOP: it keeps its sockets and answers nothing, until it wakes and believes that no time has passed."""
    program = yard.programs[fault.target]
    program.freeze()

    def thaw() -> None:
        yard.receivers.lapse()
        program.thaw()

    return thaw
