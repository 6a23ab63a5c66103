"""Watch one process until its end: its output, timeout, stop requests, and processes it leaves behind."""

import os
import select
import signal
import time
from pathlib import Path
from typing import Any, NamedTuple

from switchyard.backends.local.spool import record
from switchyard.backends.local.spool.capture import Capture
from switchyard.backends.local.spool.child import Child
from switchyard.process.linux import children, process_handle, signal_group

_LOOK = 0.25
_CHUNK = 64 * 1024


class End(NamedTuple):
    """How the process ended, and the reason if we ended it."""

    status: int
    reason: str


class Watch:
    """Reads the output of the process and enforces its timeout."""

    def __init__(self, child: Child, path: Path, job: dict[str, Any]) -> None:
        self._child = child
        self._path = path
        self._grace: float = job["grace"]
        self._deadline = time.monotonic() + job["time"] if job.get("time") else None
        self._kill_at: float | None = None
        secrets = [text.encode(errors="surrogateescape") for text in job.get("secrets", ())]
        self._captures = {
            child.stdout: Capture(path / record.STDOUT, job["output_limit"], secrets),
            child.stderr: Capture(path / record.STDERR, job["output_limit"], secrets),
        }
        self._ended = process_handle(child.pid)
        self._poll = select.poll()
        for descriptor in (*self._captures, self._ended):
            self._poll.register(descriptor, select.POLLIN)
        self._reason = "exited"
        self._stop_requested = False

    def tell(self) -> None:
        """Stop the process because the supervisor received a signal; the supervisor ends after it."""
        self._stop_requested = True

    def to_the_end(self) -> End:
        """Return when the process and everything it started have ended."""
        while (status := self._reap()) is None:
            self._listen(_LOOK)
            self._end_in_time()
        end_the_rest(self._child.pid)
        while self._listen(0):
            continue
        for capture in self._captures.values():
            capture.close()
        return End(status, self._reason)

    def _reap(self) -> int | None:
        """Reap all ended children, also adopted orphans; returns the status of the process itself."""
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid in (0, self._child.pid):
                return status if pid else None

    def _listen(self, seconds: float) -> bool:
        """Read output, or wait for output or the end of the process; returns whether there was any output."""
        heard = False
        for descriptor, _ in self._poll.poll(seconds * 1000):
            if descriptor == self._ended:
                continue
            data = os.read(descriptor, _CHUNK)
            self._captures[descriptor].write(data)
            heard = heard or bool(data)
            if not data:
                self._poll.unregister(descriptor)
        return heard

    def _end_in_time(self) -> None:
        """Send SIGTERM to the group on a timeout or stop request, and SIGKILL after the grace period."""
        now = time.monotonic()
        if self._kill_at is not None:
            if now >= self._kill_at:
                signal_group(self._child.pid, signal.SIGKILL)
            return
        if self._deadline is not None and now >= self._deadline:
            self._reason = "timed out"
        elif self._stop_requested or (self._path / record.STOP).exists():
            self._reason = "stopped"
        else:
            return
        signal_group(self._child.pid, signal.SIGTERM)
        self._kill_at = now + self._grace


def end_the_rest(leader: int) -> None:
    """Kill the remaining processes: the group, and adopted orphans, until none is left."""
    signal_group(leader, signal.SIGKILL)
    while pids := children():
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
