"""Estimates the duration of a job from earlier jobs."""

from collections import defaultdict, deque
from statistics import quantiles

FIRST = 45.0
"""Seconds, while nothing is known."""
LONG = 30.0
"""A task that is expected to take longer is timed."""
REMEMBERED = 50


class Estimates:
    """Per kind of job: a job that is larger than an earlier one takes in proportion longer."""

    def __init__(self) -> None:
        self._past: dict[str, deque[tuple[float, float]]] = defaultdict(lambda: deque(maxlen=REMEMBERED))

    def of(self, kind: str, size: float) -> float:
        """Seconds within which nine of ten such jobs would have ended."""
        past = self._past.get(kind)
        if not past:
            return FIRST
        likely = [seconds * max(1.0, size / earlier) for earlier, seconds in past]
        return likely[0] if len(likely) == 1 else quantiles(likely, n=10, method="inclusive")[-1]

    def learn(self, kind: str, size: float, seconds: float) -> None:
        """A job of that size was done, from its beginning, in this many seconds."""
        self._past[kind].append((max(size, 1.0), seconds))
