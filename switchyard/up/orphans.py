"""Ends the workflows that outlive conductor, when `switchyard up` stops.

As a subreaper, we become the parent of all orphaned descendants. After kill -9 nothing is stopped:
then a workflow runs to its end, which the next start finds.
"""

import contextlib
import os
import signal
import time

from switchyard.process.linux import children

_EVERY = 0.02


def tell(known: set[int]) -> None:
    """Ask running orphans to end; `known` are the children that we started ourselves."""
    for pid in running(known):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def end(known: set[int], grace: float) -> None:
    """Wait until none is left: first ask them to end, then kill them."""
    tell(known)
    deadline = time.monotonic() + grace
    while left := running(known):
        if time.monotonic() > deadline:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(_EVERY)


def running(known: set[int]) -> list[int]:
    """Those that have not ended; what the others left in the process table is cleared away."""
    return [pid for pid in children() if pid not in known and not _ended(pid)]


def _ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG) != (0, 0)
    except ChildProcessError:
        return True
