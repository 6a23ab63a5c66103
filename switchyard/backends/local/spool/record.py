"""The files in an execution's folder: their names, and how they are written and read.

The process of the execution can write to its folder too. So nothing here follows a symbolic link, waits for a
FIFO, or reads more than expected, and only regular files are read.
"""

import json
import os
import stat
from pathlib import Path
from typing import Any

LOCK = "lock"
STARTED = "started.json"
EXIT = "exit.json"
STOP = "stop"
STDOUT = "stdout"
STDERR = "stderr"
WORK = "work"

LARGEST = 64 * 1024  # bytes of a record
_SAFE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class UnreadableError(ValueError):
    """The file exists, but its content is not from the supervisor."""


def write(path: Path, record: dict[str, Any]) -> None:
    """Write a small record atomically: a reader sees all of it or nothing, even after a power failure."""
    part = path.with_name(f".{path.name}.part")
    with os.fdopen(open_file(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as file:
        json.dump(record, file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    flush(path.parent)


def read(path: Path) -> dict[str, Any] | None:
    """Read a record; None if it does not exist, UnreadableError if the content is not a record."""
    try:
        text = read_end(path, LARGEST + 1)
    except FileNotFoundError:
        return None
    if len(text) > LARGEST:
        raise UnreadableError(f"{path.name} has more than {LARGEST} bytes")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"{path.name} is not valid JSON: {error}") from None
    if not isinstance(record, dict):
        raise UnreadableError(f"{path.name} is not a JSON object")
    return record


def read_end(path: Path, most: int) -> bytes:
    """The last `most` bytes of a regular file."""
    try:
        descriptor = open_file(path, os.O_RDONLY)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnreadableError(f"{path.name} cannot be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - most))
        return file.read(most)


def open_file(path: Path, flags: int) -> int:
    """A descriptor of a regular file; raises OSError for anything else."""
    descriptor = os.open(path, flags | _SAFE, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(0, "it is not a regular file")


def flush(folder: Path) -> None:
    """Make the folder's entries durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
