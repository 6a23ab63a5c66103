"""Processes that outlived their supervisor.

The kernel ends a supervisor's child with it, but not what that child started. These are found by the
environment that they inherited, which names the run, and are ended before the death is reported: otherwise
they would work beside the next run. One that cleared its environment is not found.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from switchyard.process.linux import process_handle, signal_process

_ROUNDS = 50
_PAUSE = 0.02
_PROC = Path("/proc")


def end_survivors(uuid: UUID, run: int) -> int:
    """Kill every process of the run; the number of those killed."""
    ended = 0
    marks = {f"SWITCHYARD_ACTION_UUID={uuid}".encode(), f"SWITCHYARD_RUN={run}".encode()}
    for _ in range(_ROUNDS):  # one that is killed may have started another just before
        killed = sum(_killed(pid, marks) for pid in _pids())
        if not killed:
            break
        ended += killed
        time.sleep(_PAUSE)
    return ended


def _pids() -> Iterator[int]:
    with suppress(OSError):
        yield from (int(path.name) for path in _PROC.iterdir() if path.name.isdigit())


def _killed(pid: int, marks: set[bytes]) -> bool:
    """A descriptor of the process first: its number may belong to another one a moment later."""
    try:
        process = process_handle(pid)
    except OSError:
        return False
    try:
        variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
        if not marks.issubset(variables):
            return False
        signal_process(process, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(process)
    return True
