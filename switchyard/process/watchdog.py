"""Reports a blocked event loop while it is blocked: a log line with the stack, and two metrics.

A thread asks the loop for a sign of life four times a second. When none came for `after` seconds, the stack
of the loop's thread names the culprit; when the loop answers again, another line has the whole time. C code
that holds the interpreter lock holds up this thread too: the line comes when it returns, and still names it.
A process that was stopped (SIGSTOP, a frozen container) was not blocked by our code and is not reported.
"""

import asyncio
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from switchyard.process.log import get_logger
from switchyard.process.metrics import Metrics

EVERY = 0.25
_FRAMES = 12

log = get_logger(__name__)


class Watchdog:
    """Watches the event loop of the thread that calls `start`."""

    def __init__(self, metrics: Metrics, *, after: float = 1.0) -> None:
        self._after = after
        self._count = metrics.counter("loop_blocked", "Times that the event loop was blocked for over 1 s")
        self._seconds = metrics.counter("loop_blocked_seconds", "How long the event loop was blocked, in all")
        self._answered = threading.Event()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Watch the running loop until `stop`."""
        arguments = (asyncio.get_running_loop(), threading.get_ident())
        self._thread = threading.Thread(target=self._watch, args=arguments, name="watchdog", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self, loop: asyncio.AbstractEventLoop, ident: int) -> None:
        while not self._stopped.wait(EVERY):
            self._answered.clear()
            asked, used = time.monotonic(), time.process_time()
            try:
                loop.call_soon_threadsafe(self._answered.set)
            except RuntimeError:  # the loop is closed
                return
            if self._wait(asked):
                continue
            elapsed = time.monotonic() - asked
            if elapsed > 2 * self._after and time.process_time() - used < elapsed / 10:
                continue  # we overslept as well, and nobody computed: the process was stopped
            self._report(ident)
            while not self._answered.wait(EVERY):
                if self._stopped.is_set():
                    return
            blocked = time.monotonic() - asked
            self._seconds.inc(blocked)
            log.warning("the event loop is no longer blocked", seconds=round(blocked, 1))

    def _wait(self, asked: float) -> bool:
        """Whether the loop responded in time. Measured, because both may be late for the same reason."""
        self._answered.wait(self._after)
        return time.monotonic() - asked < self._after and self._answered.is_set()

    def _report(self, ident: int) -> None:
        self._count.inc()
        frame = sys._current_frames().get(ident)  # noqa: SLF001 - the documented way to another thread's stack
        if frame is None:
            return
        where = f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}"
        stack = "".join(traceback.format_stack(frame)[-_FRAMES:])
        log.warning("the event loop is blocked", blocked_by=where, stack=stack)


@contextmanager
def watched(metrics: Metrics) -> Iterator[None]:
    """Watch the running loop inside the block."""
    watchdog = Watchdog(metrics)
    watchdog.start()
    try:
        yield
    finally:
        watchdog.stop()
