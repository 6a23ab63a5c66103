"""The files in an execution's folder: their names, and how a small record is written and read."""

import json
import os
from pathlib import Path
from typing import Any

LOCK = "lock"
STARTED = "started.json"
EXIT = "exit.json"
STOP = "stop"
STDOUT = "stdout"
STDERR = "stderr"
WORK = "work"


def write(path: Path, record: dict[str, Any]) -> None:
    """Write a small record so that a reader sees all of it or nothing, also after a power cut."""
    part = path.with_name(f".{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        json.dump(record, file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    flush(path.parent)


def read(path: Path) -> dict[str, Any] | None:
    """The record, or None where it is not there."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return record if isinstance(record, dict) else None


def flush(folder: Path) -> None:
    """Make the names in the folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
