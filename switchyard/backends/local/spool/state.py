"""The state of an execution, read from its folder.

`exit.json` is valid once the supervisor's lock is free: the supervisor writes it as its last act, and
replaces content that others may have written earlier.
"""

import fcntl
import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from switchyard.backends.local.spool import record


class Life(Enum):
    """The phases of an execution."""

    UNSTARTED = "unstarted"
    RUNNING = "running"
    EXITED = "exited"
    DIED = "died"


@dataclass(frozen=True, slots=True)
class State:
    """The phase and, after the exit, its record; `fault` if the record cannot be read."""

    life: Life
    exit: dict[str, Any] | None = None
    fault: str | None = None


def look(path: Path) -> State:
    """Read the folder; OSError if it cannot be read."""
    if not _exists(path / record.STARTED):
        return State(Life.UNSTARTED)
    if _held(path / record.LOCK):
        return State(Life.RUNNING)
    try:
        ended = record.read(path / record.EXIT)
        if ended is not None:
            _check(ended)
    except record.UnreadableError as error:
        return State(Life.EXITED, None, str(error))
    return State(Life.EXITED, ended) if ended is not None else State(Life.DIED)


def stop(path: Path) -> None:
    """Ask the supervisor to end the process; an execution that was not started yet never will be."""
    os.close(record.open_file(path / record.STOP, os.O_WRONLY | os.O_CREAT))
    lock = record.open_file(path / record.LOCK, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _exists(path / record.STARTED):
            never = {"version": 1, "code": None, "signal": None, "reason": "stopped before it was started"}
            record.write(path / record.STARTED, {"version": 1, "pid": None})
            record.write(path / record.EXIT, never)
    except BlockingIOError:
        return  # a live supervisor looks for the stop file
    finally:
        os.close(lock)


def _check(ended: dict[str, Any]) -> None:
    for name, most in (("code", 255), ("signal", 128)):
        value = ended.get(name)
        if value is not None and not (type(value) is int and 0 <= value <= most):
            raise record.UnreadableError(f"{record.EXIT}: {name} is not a number from 0 to {most}")
    if not isinstance(ended.get("reason", ""), str):
        raise record.UnreadableError(f"{record.EXIT}: reason is not a string")


def _exists(path: Path) -> bool:
    """Like Path.exists, without following links; OSError if that cannot be determined."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    return True


def _held(lock: Path) -> bool:
    """Whether a supervisor lives. Only called after `started.json` exists; a probe could block one before."""
    try:
        descriptor = record.open_file(lock, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
