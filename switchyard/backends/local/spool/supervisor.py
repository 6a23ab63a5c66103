"""The process between conductor, which may die, and the command, which must run once.

Started as `python -S -m switchyard.backends.local.spool.supervisor FOLDER` with the job as JSON on standard
input, so that secrets in the environment are never on disk. It detaches, and its exit code says whether the
execution was started. It uses only the standard library, because it has to start quickly.
"""

import fcntl
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from switchyard.backends.local.spool import record
from switchyard.backends.local.spool.child import spawn
from switchyard.backends.local.spool.watch import End, Watch
from switchyard.process.linux import adopt_orphans

STARTED, ALREADY, BROKEN = 0, 3, 1
_WRITE_AGAIN = 5.0


def main(path: Path) -> int:
    """Start a detached supervisor; its first byte reports whether it started the command."""
    job = json.load(sys.stdin)
    hear, say = os.pipe()
    if os.fork():
        os.close(say)
        word = os.read(hear, 1)
        return word[0] if word else BROKEN
    os.close(hear)
    _detach()
    if not _own(path):
        os.write(say, bytes([ALREADY]))
        os._exit(0)
    _make_room(path)
    started_at = time.time()
    record.write(path / record.STARTED, {"version": 1, "pid": os.getpid(), "started_at": started_at})
    os.write(say, bytes([STARTED]))
    os.close(say)
    _leave(path, {"version": 1, "started_at": started_at, **_run(path, job), "ended_at": time.time()})
    return 0


def _detach() -> None:
    """The caller created the session; drop the descriptors and the working directory inherited from it."""
    os.chdir("/")
    os.umask(0o077)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _own(path: Path) -> bool:
    """Take the lock until this process ends, then check for the mark: only one supervisor gets past here."""
    lock = os.open(path / record.LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return not (path / record.STARTED).exists()


def _make_room(path: Path) -> None:
    """Write to the disk before the mark: if it is full, the start can be retried instead of failing."""
    (path / record.WORK).mkdir(mode=0o700, exist_ok=True)
    for name in (record.STDOUT, record.STDERR):
        (path / name).touch(mode=0o600)


def _run(path: Path, job: dict[str, Any]) -> dict[str, Any]:
    """Run the command; every result is recorded, including failures."""
    try:
        adopt_orphans()
        child = spawn(job, path / record.WORK)
        watch = Watch(child, path, job)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: watch.tell())
        return _record(watch.to_the_end())
    except OSError as error:
        return {"code": None, "signal": None, "reason": f"could not run: {error}"}


def _record(end: End) -> dict[str, Any]:
    signaled = os.WIFSIGNALED(end.status)
    return {
        "code": None if signaled else os.waitstatus_to_exitcode(end.status),
        "signal": os.WTERMSIG(end.status) if signaled else None,
        "reason": end.reason,
    }


def _leave(path: Path, end: dict[str, Any]) -> None:
    """Write the exit record, retrying while the disk is full; not needed if the folder was removed."""
    while path.exists():
        try:
            record.write(path / record.EXIT, end)
        except OSError:
            time.sleep(_WRITE_AGAIN)
        else:
            return


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
