"""The server process on a data folder, found by what it writes there; it need not be a child of ours."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from switchyard.errors import EmbeddedPostgresError

_EVERY = 0.01


@dataclass(frozen=True)
class Postmaster:
    """A running server, as its `postmaster.pid` tells."""

    pid: int
    port: int
    sockets: Path
    tcp: bool
    ready: bool


def running_on(data: Path) -> Postmaster | None:
    """The server that runs on this folder; None where the file is left over from one that died."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        pid = int(lines[0])
    except (FileNotFoundError, IndexError, ValueError):
        return None
    if len(lines) < 6 or not _works_in(pid, data):
        return None
    ready = len(lines) > 7 and lines[7].strip() == "ready"
    return Postmaster(pid, int(lines[3]), Path(lines[4]), tcp=bool(lines[5].strip()), ready=ready)


def found_or_cleared(data: Path, within: float = 20.0) -> Postmaster | None:
    """The server that runs here, perhaps not ready yet; or None, when nothing of one that died is left.

    A start that was given up may still come up, and backends outlive their postmaster: both are waited for.
    Postgres itself refuses to start over a pid that is alive, even where that is some other program's by now;
    and with the file gone it could not see the backends. So the file goes last.
    """
    deadline = time.monotonic() + within
    while any(_works_in(pid, data) for pid in psutil.pids()):
        server = running_on(data)
        if server is not None:
            return server
        if time.monotonic() > deadline:
            raise EmbeddedPostgresError(
                f"processes of a server that was killed still run on {data}; end them first"
            )
        time.sleep(_EVERY)
    (data / "postmaster.pid").unlink(missing_ok=True)
    return None


def shut_down(postmaster: Postmaster, data: Path, within: float = 60.0) -> None:
    """Fast: clients are cut off, what they committed is kept; where that takes too long, as in a crash."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        try:
            os.kill(postmaster.pid, number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + within
        while _works_in(postmaster.pid, data):
            if time.monotonic() > deadline:
                break
            time.sleep(_EVERY)
        else:
            return
    raise EmbeddedPostgresError(f"the Postgres on {data} (process {postmaster.pid}) does not end")


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
