"""The rate of one action name: tokens of this instance and, for `scope: fleet`, of the fleet."""

import time
from collections.abc import Callable

from conductor.limits.bucket import Bucket, FleetBucket
from conductor.metrics import NameMetrics
from conductor.session.session import Session
from switchyard.config.rate import Rate


class Tokens:
    """The tokens of one action name; a dispatch takes one."""

    def __init__(
        self, name: str, rate: Rate, metrics: NameMetrics, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._metrics = metrics
        self._own = Bucket(rate.limit, rate.burst, clock)
        self._fleet = FleetBucket(name, rate.limit, rate.burst) if rate.scope == "fleet" else None

    def left(self) -> float:
        return self._own.tokens()

    async def take(self, session: Session, wanted: int) -> tuple[int, float]:
        """Take up to `wanted` tokens; if there are none, returns the seconds to wait."""
        taken = self._own.take(wanted)
        wait = self._own.wait() if taken == 0 else 0.0
        if taken and self._fleet:
            shared, wait = await self._fleet.take(session, taken)
            self._own.put_back(taken - shared)
            taken = shared
        self._metrics.tokens.set(self._own.tokens())
        return taken, wait

    async def put_back(self, session: Session, tokens: int) -> None:
        self._own.put_back(tokens)
        if self._fleet:
            await self._fleet.put_back(session, tokens)

    def slow_to(self, factor: float) -> None:
        """Refill at that share of the configured rate."""
        self._own.slow_to(factor)
