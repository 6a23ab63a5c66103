"""Estimates the duration of a job from earlier jobs."""

from collections import defaultdict, deque
from statistics import quantiles

FIRST = 45.0
"""The estimate in seconds while there is no earlier job."""
LONG = 30.0
"""Seconds; a task that is expected to take longer is timed."""
REMEMBERED = 50


class Estimates:
    """Estimates by kind of job; durations of smaller jobs are scaled up in proportion to the size."""

    def __init__(self) -> None:
        self._past: dict[str, deque[tuple[float, float]]] = defaultdict(lambda: deque(maxlen=REMEMBERED))

    def of(self, kind: str, size: float) -> float:
        """The duration that nine of ten such jobs do not exceed, in seconds."""
        past = self._past.get(kind)
        if not past:
            return FIRST
        likely = [seconds * max(1.0, size / earlier) for earlier, seconds in past]
        return likely[0] if len(likely) == 1 else quantiles(likely, n=10, method="inclusive")[-1]

    def learn(self, kind: str, size: float, seconds: float) -> None:
        """Record the duration of a job of that size that ran from the beginning."""
        self._past[kind].append((max(size, 1.0), seconds))
