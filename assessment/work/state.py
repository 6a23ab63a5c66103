"""The state that the worker shares with its health process: a few numbers in shared memory.

They are plain aligned words without a lock, each written by one side only: a lock held by a killed or stopped
worker would block the health check that has to report it. Times are from CLOCK_MONOTONIC, which is the same
in all processes of a machine and cannot be set back.
"""

import ctypes
from multiprocessing.sharedctypes import RawValue
from typing import ClassVar

ERROR, STOPPED, RUNNING = -1, 0, 1
OUTCOMES = ("done", "failed", "retried", "handed_back", "skipped")


class State(ctypes.Structure):
    """The shared numbers. All are zero at first: stopped, without a heartbeat."""

    status: int
    """-1 error, 0 stopped, 1 running."""
    error_seen: int
    """Whether a check has answered with status=-1."""
    health_listens: int
    queue_answers: int
    heartbeat: float
    task_start: float
    """0 unless a long task is running."""
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
    """State in shared memory, which child processes inherit."""
    return RawValue(State)
