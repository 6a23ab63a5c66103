"""Local processes: the supervisor of one is killed, and takes the process along, as when its host goes down."""

import os
import signal
from pathlib import Path

from switchyard.backends.local.spool.record import EXIT, STARTED, read
from tests.faults.inject.strike import Heal, Missed, over
from tests.faults.plan import Fault
from tests.faults.yard import Yard


def kill_supervisor(yard: Yard, fault: Fault) -> Heal:
    """SIGKILL to one that is at it."""
    running = sorted(pid for path in yard.spool.iterdir() if (pid := _running(path)))
    if not running:
        raise Missed
    try:
        os.kill(running[int(fault.amount * len(running))], signal.SIGKILL)
    except ProcessLookupError:
        raise Missed from None
    return over


def _running(path: Path) -> int | None:
    started = read(path / STARTED) if path.is_dir() and not (path / EXIT).exists() else None
    return int(started["pid"]) if started else None
