"""Processes that outlived their supervisor.

When a supervisor dies, the kernel kills its child, but not the processes that the child started. These are
found by the inherited environment, which names the run, and are killed before the death is reported:
otherwise they would run in parallel with the next run. A process that cleared its environment is not found.
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
    """Kill every process of the run; returns the number killed."""
    ended = 0
    marks = {f"SWITCHYARD_ACTION_UUID={uuid}".encode(), f"SWITCHYARD_RUN={run}".encode()}
    for _ in range(_ROUNDS):  # a killed process may have started another just before
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
    """Kill a process if it has all marks; by a descriptor, since its pid may be reused at any time."""
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
