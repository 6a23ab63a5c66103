"""What all workers of one action name in a process share: handler, policy, rate and breaker."""

import time
from collections.abc import Callable

from conductor.limits.breaker import Breaker, Matcher, all_of, by_error, by_status
from conductor.limits.bucket import Bucket
from conductor.limits.fleet_bucket import FleetBucket
from conductor.metrics import ConductorMetrics
from conductor.outcomes.decide import Judge
from conductor.session.session import Session
from switchyard.config.action import Action
from switchyard.config.breaker import Breaker as BreakerConfig
from switchyard.config.breaker import BreakerPattern
from switchyard.handlers import BatchHandler, Handler, Outcome
from switchyard.process.log import get_logger

log = get_logger(__name__)


class ServedName:
    """One action name, as configured."""

    def __init__(
        self,
        name: str,
        action: Action,
        handler: Handler,
        metrics: ConductorMetrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.action = action
        self.handler = handler
        self.batch_handler = handler if isinstance(handler, BatchHandler) else None
        self.at_most_once = action.delivery == "at_most_once"
        self.judge = Judge(action.retry, self.at_most_once)
        self.metrics = metrics
        rate = action.rate
        self.bucket = Bucket(rate.limit, rate.burst, clock) if rate else None
        self.fleet = FleetBucket(name, rate.limit, rate.burst) if rate and rate.scope == "fleet" else None
        self.breaker = made(action.breaker) if action.breaker else None
        metrics.breaker.labels(name).set(1.0)

    def slots(self, configured: int) -> int:
        """How many may be in flight: without a rate, the breaker can only narrow the slots."""
        if self.breaker is None or self.bucket is not None:
            return configured
        return max(1, int(configured * self.breaker.factor))

    async def take(self, session: Session, wanted: int) -> tuple[int, float]:
        """Tokens for up to `wanted` dispatches; with none, the seconds until there may be one."""
        if self.bucket is None or wanted == 0:
            return wanted, 0.0
        taken = self.bucket.take(wanted)
        wait = self.bucket.wait() if taken == 0 else 0.0
        if taken and self.fleet:
            shared, wait = await self.fleet.take(session, taken)
            self.bucket.put_back(taken - shared)
            taken = shared
        self.metrics.tokens.labels(self.name).set(self.bucket.tokens())
        return taken, wait

    async def put_back(self, session: Session, tokens: int) -> None:
        """Return what a claim found no work for."""
        if self.bucket is None or tokens == 0:
            return
        self.bucket.put_back(tokens)
        if self.fleet:
            await self.fleet.put_back(session, tokens)

    def observe(self, outcome: Outcome) -> None:
        """Let the breaker see what a dispatch came to."""
        if self.breaker is None or not self.breaker.observe(outcome):
            return
        if self.bucket is not None:
            self.bucket.slow_to(self.breaker.factor)
        self.metrics.breaker.labels(self.name).set(self.breaker.factor)
        log.warning("the breaker changed the rate", action=self.name, factor=round(self.breaker.factor, 4))

    def state(self) -> dict[str, float]:
        """What `switchyard workers` shows of it."""
        shown: dict[str, float] = {}
        if self.bucket is not None:
            shown["tokens"] = round(self.bucket.tokens(), 3)
        if self.breaker is not None:
            shown["breaker_factor"] = round(self.breaker.factor, 4)
        return shown


def made(config: BreakerConfig) -> Breaker:
    """The breaker that a configuration describes."""
    patterns = [all_of(_matchers(pattern)) for pattern in config.patterns]
    return Breaker(patterns, slow_by=config.slow_by, floor=config.floor, recover_by=config.recover_by)


def _matchers(pattern: BreakerPattern) -> list[Matcher]:
    matchers: list[Matcher] = []
    if pattern.status is not None:
        matchers.append(by_status(pattern.status))
    if pattern.error is not None:
        matchers.append(by_error(pattern.error))
    if pattern.quota:
        matchers.append(by_error("exceeded quota"))
    return matchers
