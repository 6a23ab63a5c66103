"""The parts' logs: kept in the checkout's results/parts until the next session, shown when a test fails.

Sessions may run side by side, and one session in several processes, so each process has a folder of its own.
"""

import os
import shutil
from itertools import count
from pathlib import Path

import psutil

FOLDER = Path(__file__).parents[2] / "results" / "parts"
SHOWN = 6000

_number = count(1)
_marks: dict[Path, int] = {}


def begin_session() -> None:
    """Nobody reads on in the logs of sessions that are over."""
    for folder in FOLDER.glob("*"):
        if folder.is_dir() and not psutil.pid_exists(int(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)  # another session may be at it


def new(name: str, folder: Path | None = None) -> Path:
    """A log file for a part that is about to start."""
    folder = folder or FOLDER / str(os.getpid())
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{next(_number):03}-{name}.log"
    path.touch()
    _marks[path] = 0
    return path


def begin_test() -> None:
    """From here on, what is logged belongs to the test that starts now."""
    for path in _marks:
        _marks[path] = path.stat().st_size if path.exists() else 0


def of_this_test() -> list[tuple[str, str]]:
    """Name and text of each log that grew during this test, cut to its end."""
    grown = []
    for path, mark in _marks.items():
        text = path.read_bytes()[mark:] if path.exists() else b""
        if text:
            grown.append((path.name, text[-SHOWN:].decode(errors="replace")))
    return grown
