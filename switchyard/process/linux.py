"""What Linux offers about processes and the standard library does not; imports next to nothing.

Elsewhere the calls do nothing: an orphan is then not noticed, and nothing else changes.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def die_with_parent(parent: int, number: int) -> bool:
    """Receive signal `number` when the thread that started us ends; False where `parent` has ended already.

    Call it in the child, after it changed its account: a change of account clears the request.
    """
    _prctl(_PR_SET_PDEATHSIG, number)
    return os.getppid() == parent


def adopt_orphans(adopt: bool = True) -> None:
    """Descendants whose parent ended become our children, so that none outlives us unseen."""
    _prctl(_PR_SET_CHILD_SUBREAPER, int(adopt))


def children() -> list[int]:
    """Our children, the zombies among them included."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    if listed.exists():
        return [int(pid) for pid in listed.read_text(encoding="ascii").split()]
    import psutil  # noqa: PLC0415 - for a kernel that does not list them

    return [child.pid for child in psutil.Process().children()]


def signal_group(leader: int, number: int) -> None:
    """Signal a whole process group; a group that is gone needs no signal."""
    try:
        os.killpg(leader, signal.Signals(number))
    except ProcessLookupError:
        return


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
