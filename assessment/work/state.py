"""What the worker shares with its health process: a few numbers in shared memory.

Plain aligned words without a lock, each written by one side only: a lock that a killed or stopped worker
held would silence the very check that has to tell of it. Times are of CLOCK_MONOTONIC, which all processes
of a machine share and nobody can set back.
"""

import ctypes
from multiprocessing.sharedctypes import RawValue
from typing import ClassVar

ERROR, STOPPED, RUNNING = -1, 0, 1
OUTCOMES = ("done", "failed", "retried", "handed_back", "skipped")


class State(ctypes.Structure):
    """All zero at first: stopped, and no heartbeat yet."""

    status: int
    """-1 error, 0 stopped, 1 running."""
    error_seen: int
    """A check has answered with status=-1."""
    health_listens: int
    queue_answers: int
    heartbeat: float
    task_start: float
    """0 unless a long task is under way."""
    expected_duration: float
    busy_seconds: float
    done: int
    failed: int
    retried: int
    handed_back: int
    skipped: int

    _fields_: ClassVar = [
        *((name, ctypes.c_int64) for name in ("status", "error_seen", "health_listens", "queue_answers")),
        *(
            (name, ctypes.c_double)
            for name in ("heartbeat", "task_start", "expected_duration", "busy_seconds")
        ),
        *((name, ctypes.c_int64) for name in OUTCOMES),
    ]


def shared_state() -> State:
    """In memory that children inherit."""
    return RawValue(State)
