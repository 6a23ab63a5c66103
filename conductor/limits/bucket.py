"""A token bucket: the dispatches of any stretch of time stay at or under rate x time + burst.

`instance` scope is this bucket alone. `fleet` scope adds one row in the database (fleet.py) that all
instances take from; this bucket then carries only the breaker's factor, which is each instance's own memory.
"""

import math
from collections.abc import Callable


class Bucket:
    """Tokens that refill with time, scaled by a breaker's factor, and never beyond the burst."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._burst = max(1.0, burst)
        self._clock = clock
        self._factor = 1.0
        self._tokens = self._burst
        self._at = clock()

    @property
    def factor(self) -> float:
        """How much of the configured rate is in force."""
        return self._factor

    def slow_to(self, factor: float) -> None:
        """Refill at this share of the configured rate from now on."""
        self._refill()
        self._factor = factor

    def tokens(self) -> float:
        """What is there now."""
        self._refill()
        return self._tokens

    def take(self, most: int) -> int:
        """Take as many whole tokens as there are, at most `most`."""
        self._refill()
        taken = max(0, min(most, math.floor(self._tokens)))
        self._tokens -= taken
        return taken

    def put_back(self, count: int) -> None:
        """Return tokens that nothing was dispatched for."""
        self._tokens = min(self._burst, self._tokens + count)

    def wait(self) -> float:
        """Seconds until the next whole token; 0 where there is one."""
        self._refill()
        missing = 1.0 - self._tokens
        return max(0.0, missing / (self._rate * self._factor))

    def _refill(self) -> None:
        now = self._clock()
        gained = max(0.0, now - self._at) * self._rate * self._factor
        self._at = now
        self._tokens = min(self._burst, self._tokens + gained)
