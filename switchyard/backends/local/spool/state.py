"""What an execution's folder says about it, without a doubt left."""

import fcntl
import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from switchyard.backends.local.spool import record


class Life(Enum):
    """Where an execution is in its life."""

    UNSTARTED = "unstarted"
    RUNNING = "running"
    EXITED = "exited"
    DIED = "died"


@dataclass(frozen=True, slots=True)
class State:
    """The life and, once it exited, the record of how."""

    life: Life
    exit: dict[str, Any] | None = None


def look(path: Path) -> State:
    """Read the folder. The exit is read again once the lock was found free: it is written before."""
    if ended := record.read(path / record.EXIT):
        return State(Life.EXITED, ended)
    if not (path / record.STARTED).exists():
        return State(Life.UNSTARTED)
    if _held(path / record.LOCK):
        return State(Life.RUNNING)
    ended = record.read(path / record.EXIT)
    return State(Life.EXITED, ended) if ended else State(Life.DIED)


def stop(path: Path) -> None:
    """Ask the supervisor to end the process; what no supervisor has started yet never will be."""
    (path / record.STOP).touch(mode=0o600)
    lock = os.open(path / record.LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not (path / record.STARTED).exists():
            never = {"version": 1, "code": None, "signal": None, "reason": "stopped before it was started"}
            record.write(path / record.STARTED, {"version": 1, "pid": None})
            record.write(path / record.EXIT, never)
    except BlockingIOError:
        return  # a supervisor lives, and looks for the wish
    finally:
        os.close(lock)


def _held(lock: Path) -> bool:
    """Whether a supervisor lives. Asked once the mark is there: before it, a probe could turn one away."""
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
