"""A token bucket: the dispatches of any stretch of time stay at or under rate x time + burst.

`instance` scope is this bucket alone. `fleet` scope adds one row in the database that all instances
take from, exact by its row lock; this bucket then carries only the breaker's factor, which each instance
has for itself.
"""

import math
from collections.abc import Callable

from conductor.session.session import Session
from switchyard.ledger.queries import query

TAKE = query("conductor", "take_tokens")
GIVE = query("conductor", "give_tokens")


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
        """The share of the configured rate that applies now."""
        return self._factor

    def slow_to(self, factor: float) -> None:
        """Refill at this share of the configured rate from now on."""
        self._refill()
        self._factor = factor

    def tokens(self) -> float:
        """The number of tokens available now."""
        self._refill()
        return self._tokens

    def take(self, most: int) -> int:
        """Take all whole tokens that are available, at most `most`."""
        self._refill()
        taken = max(0, min(most, math.floor(self._tokens)))
        self._tokens -= taken
        return taken

    def put_back(self, count: int) -> None:
        """Return tokens that nothing was dispatched for."""
        self._tokens = min(self._burst, self._tokens + count)

    def wait(self) -> float:
        """Seconds until the next whole token; 0 if one is available."""
        self._refill()
        missing = 1.0 - self._tokens
        return max(0.0, missing / (self._rate * self._factor))

    def _refill(self) -> None:
        now = self._clock()
        gained = max(0.0, now - self._at) * self._rate * self._factor
        self._at = now
        self._tokens = min(self._burst, self._tokens + gained)


class FleetBucket:
    """The row that all instances share. A claim takes from it once and returns unused tokens."""

    def __init__(self, name: str, rate: float, burst: int) -> None:
        self._name = name
        self._rate = rate
        self._burst = burst

    async def take(self, session: Session, wanted: int) -> tuple[int, float]:
        """Take up to `wanted` tokens; if there are none, returns the seconds until there is one."""
        values = {"name": self._name, "rate": self._rate, "burst": self._burst, "wanted": wanted}
        [[taken, wait]] = await session.rows(TAKE, values)
        return taken, wait

    async def put_back(self, session: Session, tokens: int) -> None:
        """Return tokens that nothing was dispatched for."""
        await session.rows(GIVE, {"name": self._name, "burst": self._burst, "tokens": tokens})
