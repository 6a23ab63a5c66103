"""The time that a job has in this worker, and whether the next step fits into it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from assessment.work.settings import LONGEST_VISIBILITY

SAVING = 30.0
"""Seconds of the job's time reserved for saving and returning it; at most half of that time."""
STOPPING = 5.0
"""The same, of the grace period: chunks are saved already, so only two messages have to be sent."""


@dataclass
class Stop:
    """Set by SIGTERM: stop within `grace` seconds."""

    grace: float
    clock: Callable[[], float]
    asked_at: float | None = field(default=None, init=False)

    def ask(self) -> None:
        if self.asked_at is None:
            self.asked_at = self.clock()

    @property
    def asked(self) -> bool:
        return self.asked_at is not None

    def left(self) -> float:
        return float("inf") if self.asked_at is None else self.asked_at + self.grace - self.clock()


class Deadline:
    """The deadline of one delivery: the job's timeout, the queue's limit or a stop, whichever is first."""

    def __init__(self, stop: Stop, received: float, timeout: float | None) -> None:
        self._stop = stop
        allowed = min(timeout or LONGEST_VISIBILITY, LONGEST_VISIBILITY)
        self._ends = received + allowed - min(SAVING, allowed / 2)

    @property
    def stopping(self) -> bool:
        return self._stop.asked

    def too_late(self, rest: float) -> str | None:
        """Why the next step should not begin; `rest` is the remaining time of the whole job."""
        if self._stop.asked and rest > self._stop.left() - min(STOPPING, self._stop.grace / 2):
            return "the worker stops"
        if self._stop.clock() >= self._ends:
            return "its time here is over"
        return None

    def no_room(self, chunk: float) -> str | None:
        """Why the next chunk, which takes this many seconds, should not begin."""
        if self._stop.clock() + chunk > self._ends:
            return f"the next chunk ({chunk:.1f} s) would not fit into its time here"
        return None
