"""What our programs leave behind on purpose: workflows outlive a conductor, but not `switchyard up`.

Linux gives the orphans of all our descendants to us where we ask for that. Killed with -9 we stop nothing:
then a workflow runs to its end by itself, and the next start finds how it ended.
"""

import contextlib
import os
import signal
import time

from switchyard.process.linux import children

_EVERY = 0.02


def tell(known: set[int]) -> None:
    """Ask those that run to end; `known` are the children that we started ourselves."""
    for pid in running(known):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def end(known: set[int], grace: float) -> None:
    """Return when none is left: asked first, then killed."""
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
