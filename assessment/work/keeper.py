"""A thread beside the work: extends the visibility of the current message, and sends heartbeats.

It stops both if the work makes no progress (`verdict.overdue`), so that another worker gets a job that hangs.
Before a delivery is settled, its message is taken from the keeper and is not extended any more.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from assessment.work import tracing
from assessment.work.errors import FatalQueueError, transient
from assessment.work.job import Job
from assessment.work.queue import WorkQueue
from assessment.work.status import JobReport
from switchyard.aws.queue import Message
from switchyard.process.log import get_logger

TICK = 0.25
BEAT = 10.0
STOPPING = 5.0
"""Seconds that the worker waits at its end for a running call."""

log = get_logger(__name__)


@dataclass(frozen=True)
class Held:
    """The current delivery."""

    message: Message
    job: Job
    report: JobReport


class Keeper:
    """The thread. `hanging`: reasons why the work seems to hang. `beat`: sends a heartbeat."""

    def __init__(
        self,
        queue: WorkQueue,
        visibility: int,
        *,
        hanging: Callable[[], list[str]],
        beat: Callable[[], None],
    ) -> None:
        self._queue, self._visibility = queue, visibility
        self._hanging, self._beat = hanging, beat
        self.overrun: Callable[[], None] = lambda: None
        """Checks whether the grace period of a stop is over; set by the worker."""
        self._lock = threading.Lock()
        self._held: Held | None = None
        self._extend_at = self._beat_at = 0.0
        self._gave_up = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="keeper", daemon=True)

    def start(self) -> None:
        self._beat_at = time.monotonic() + BEAT
        self._thread.start()

    def stop(self) -> None:
        """Send no more heartbeats, so that none follows the report that the worker ended."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(STOPPING)

    def hold(self, held: Held) -> None:
        """Extend the visibility of the message until it is taken."""
        with self._lock:
            self._held = held
            self._gave_up = False
            self._extend_at = held.message.received + self._visibility / 3

    def take(self) -> Held | None:
        """Take the delivery to settle it; None if another thread has taken it already."""
        with self._lock:
            held, self._held = self._held, None
            return held

    def wait(self, seconds: float) -> None:
        """Wait if `take` returned None: the keeper settles the delivery now, and then ends the process."""
        self._thread.join(seconds)

    def _watch(self) -> None:
        tracing.between_jobs()
        while not self._over.wait(TICK):
            self.look(time.monotonic())

    def look(self, now: float) -> None:
        """Check everything once. No error ends the thread; without it, every message would be lost."""
        try:
            self.overrun()
            self._tick(now)
        except FatalQueueError as error:
            log.error("the current message cannot be extended any more", error=str(error))  # noqa: TRY400
        except Exception as error:
            if transient(error):
                log.warning("the current message could not be extended", error=str(error))
            else:
                log.exception("unexpected error beside the work")

    def _tick(self, now: float) -> None:
        hanging = self._hanging()
        if now >= self._beat_at and not hanging:
            self._beat_at = now + BEAT
            self._beat()
        with self._lock:
            if self._held is None or now < self._extend_at or self._gave_up:
                return
            with tracing.during(self._held.job, self._queue.name):
                self._extend(self._held.message, hanging, now)

    def _extend(self, message: Message, hanging: list[str], now: float) -> None:
        if hanging:
            log.error("the job hangs; its message will go to another worker", reason=", ".join(hanging))
            self._gave_up = True
            return
        self._extend_at = now + TICK * 4  # retry soon if this fails
        self._gave_up = not self._queue.hide(message, self._visibility)
        self._extend_at = now + self._visibility / 3
