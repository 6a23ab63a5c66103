"""Linux process functions that the standard library lacks; imports very little.

On other systems the calls do nothing, so that orphans are not noticed.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PIDFD_SEND_SIGNAL, _PIDFD_OPEN = 424, 434  # on every architecture


def die_with_parent(parent: int, number: int) -> bool:
    """Receive signal `number` when the thread that started us ends; False if `parent` has ended already.

    Call it in the child after it changed its user: changing the user clears the request.
    """
    _prctl(_PR_SET_PDEATHSIG, number)
    return os.getppid() == parent


def adopt_orphans(adopt: bool = True) -> None:
    """Become the parent of orphaned descendants, so that none outlives us unnoticed."""
    _prctl(_PR_SET_CHILD_SUBREAPER, int(adopt))


def process_handle(pid: int) -> int:
    """A pidfd of a process; it becomes readable when the process ends."""
    if hasattr(os, "pidfd_open"):
        return os.pidfd_open(pid)
    return _system_call(_PIDFD_OPEN, pid, 0)


def signal_process(handle: int, number: int) -> None:
    """Signal the process of a pidfd, never another one that reuses its pid."""
    if hasattr(signal, "pidfd_send_signal"):
        signal.pidfd_send_signal(handle, number)
    else:
        _system_call(_PIDFD_SEND_SIGNAL, handle, number, None, 0)


def children() -> list[int]:
    """Our child processes, including zombies."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    if listed.exists():
        return [int(pid) for pid in listed.read_text(encoding="ascii").split()]
    import psutil  # noqa: PLC0415 - for a kernel that does not list them

    return [child.pid for child in psutil.Process().children()]


def signal_group(leader: int, number: int) -> None:
    """Signal a whole process group; ignored if the group no longer exists."""
    try:
        os.killpg(leader, signal.Signals(number))
    except ProcessLookupError:
        return


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _system_call(number: int, *arguments: int | None) -> int:
    """Make a system call that Python builds for older systems, such as downloadable ones, do not wrap."""
    library = ctypes.CDLL(None, use_errno=True)
    answer: int = library.syscall(number, *arguments)
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer
