"""Writes log lines to stderr without blocking on a slow reader.

A pipe without a reader fills up, and a write to it blocks for ever; in an event loop everything would block
too. So a line is written directly if that cannot block, else by a thread from a bounded backlog. Lines that
do not fit are dropped and counted, and a line reports their number when there is room again.
"""

import contextlib
import os
import select
import stat
import sys
import threading
import time
from collections import deque

MOST = 10_000  # lines that wait
_ATOMIC = 4096  # a pipe that is writable takes this many bytes without blocking
_AT_EXIT = 2.0


class Sink:
    """One per process. Safe from any thread."""

    def __init__(self) -> None:
        self.dropped = 0
        self._unsaid = 0
        self._backlog: deque[bytes] = deque()
        self._lock = threading.Lock()
        self._writing: threading.Thread | None = None

    def write(self, line: str) -> None:
        """Write the line now, queue it, or drop it; never blocks."""
        try:
            handle = sys.stderr.fileno()
        except (OSError, ValueError, AttributeError):  # replaced by something that is not a file
            with contextlib.suppress(OSError, ValueError, AttributeError):
                sys.stderr.write(line)
            return
        data = line.encode(errors="backslashreplace")
        with self._lock:
            if not self._backlog and _takes(handle, len(data)) and _written(handle, data):
                return
            if len(self._backlog) >= MOST:
                self.dropped += 1
                self._unsaid += 1
                return
            self._backlog.append(data)
            if self._writing is None:
                self._writing = threading.Thread(target=self._drain, args=(handle,), name="log", daemon=True)
                self._writing.start()

    def flush(self, within: float = _AT_EXIT) -> None:
        """Wait a moment for a slow reader at the end of the program, but not for one that reads nothing."""
        deadline = time.monotonic() + within
        while self._backlog and time.monotonic() < deadline:
            time.sleep(0.01)

    def _drain(self, handle: int) -> None:
        while True:
            with self._lock:
                if not self._backlog:
                    self._writing = None
                    return
                data = self._backlog[0]  # stays until it is written, so that later lines come after it
            _write_all(handle, data)
            with self._lock:
                self._backlog.popleft()
                if self._unsaid and len(self._backlog) < MOST // 2:
                    self._backlog.append(_dropped(self._unsaid))
                    self._unsaid = 0


def _takes(handle: int, size: int) -> bool:
    """Whether a write of this size cannot block: to a file, or a pipe or terminal with room."""
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return True
        return size <= _ATOMIC and _writable(handle, within=0)
    except OSError:
        return True  # closed: a write fails at once


def _writable(handle: int, within: float | None = None) -> bool:
    waiting = select.poll()  # select() refuses descriptors from 1,024 on
    waiting.register(handle, select.POLLOUT)
    return bool(waiting.poll(None if within is None else within * 1000))


def _written(handle: int, data: bytes) -> bool:
    try:
        return os.write(handle, data) == len(data)
    except BlockingIOError:
        return False
    except OSError:
        return True  # closed, or a disk that is full: the line is lost, and the program goes on


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            _writable(handle)
            view = view[os.write(handle, view) :]
        except BlockingIOError:
            continue
        except OSError:
            return


def _dropped(count: int) -> bytes:
    return f'{{"event": "log lines were dropped: nobody read them", "dropped": {count}}}\n'.encode()
