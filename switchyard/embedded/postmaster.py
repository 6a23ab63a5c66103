"""The state files of a server in its data folder, and what a killed server leaves there."""

import time
from pathlib import Path

import psutil

from switchyard.errors import EmbeddedPostgresError

_EVERY = 0.01


def is_ready(data: Path, pid: int) -> bool:
    """Whether the server with that pid takes connections."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() == "ready"


def clear(data: Path, within: float) -> None:
    """Return when no process of a killed server is left: its backends outlive it for a moment.

    Postgres itself refuses to start over a pid that is alive, even where that is some other program's by now;
    and with the file gone it could not see the backends. So the file goes last.
    """
    deadline = time.monotonic() + within
    while any(_works_in(pid, data) for pid in psutil.pids()):
        if time.monotonic() > deadline:
            raise EmbeddedPostgresError(f"processes of another server still run on {data}; end them first")
        time.sleep(_EVERY)
    (data / "postmaster.pid").unlink(missing_ok=True)


def _works_in(pid: int, data: Path) -> bool:
    """Every process of a server has the data folder as its working directory; a zombie has none.

    A shell may be there too, of a person who looks around.
    """
    try:
        process = psutil.Process(pid)
        ours = process.name() == "postgres" and process.status() != psutil.STATUS_ZOMBIE
        return ours and Path(process.cwd()) == data
    except (psutil.NoSuchProcess, psutil.AccessDenied, FileNotFoundError):
        return False
