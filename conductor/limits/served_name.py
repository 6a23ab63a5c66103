"""What all workers of one action name in a process share: its configuration, handler, rate and breaker."""

import time
from collections.abc import Callable, Sequence

from conductor.limits.breaker import Breaker
from conductor.limits.claim_size import ClaimSize
from conductor.limits.flows import Flows
from conductor.limits.tokens import Tokens
from conductor.metrics import ConductorMetrics
from conductor.session.session import Session
from switchyard.config.action import Action
from switchyard.handlers import BatchHandler, Handler, Outcome
from switchyard.process.log import get_logger

log = get_logger(__name__)


class ServedName:
    """One action name as this process serves it."""

    def __init__(
        self,
        name: str,
        action: Action,
        handler: Handler,
        metrics: ConductorMetrics,
        clock: Callable[[], float] = time.monotonic,
        flows: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.action = action
        self.handler = handler
        self.batch_handler = handler if isinstance(handler, BatchHandler) else None
        self.at_most_once = action.delivery == "at_most_once"
        self.metrics = metrics.dispatch.of(name)
        self.claim_size = ClaimSize(clock)
        self.tokens = Tokens(name, action.rate, self.metrics, clock) if action.rate else None
        self._busy = 0.0
        breaker = Breaker.configured(action.breaker) if action.breaker else None
        by_lane = action.breaker is not None and action.breaker.scope == "lane"
        self.breaker = None if by_lane else breaker
        self.flows = Flows(flows, breaker if by_lane else None)
        self.metrics.breaker.set(1.0)

    def slots(self, configured: int) -> int:
        """How many actions may be in flight; without a rate, the breaker reduces the slots instead."""
        if self.breaker is None or self.tokens is not None:
            return configured
        return max(1, int(configured * self.breaker.factor))

    async def take(self, session: Session, wanted: int) -> tuple[int, float]:
        """Take tokens for up to `wanted` dispatches; if there are none, returns the seconds to wait."""
        if self.tokens is None or wanted == 0:
            return wanted, 0.0
        return await self.tokens.take(session, wanted)

    async def put_back(self, session: Session, tokens: int) -> None:
        """Return the tokens that a claim found no work for."""
        if self.tokens is not None and tokens:
            await self.tokens.put_back(session, tokens)

    def observe(self, outcome: Outcome, lane: str | None = None) -> None:
        """Pass the outcome of a dispatch to the breaker."""
        if lane is not None:
            self.flows.observe(lane, outcome)
        if self.breaker is None or not self.breaker.observe(outcome):
            return
        if self.tokens is not None:
            self.tokens.slow_to(self.breaker.factor)
        self.metrics.breaker.set(self.breaker.factor)
        log.warning("the breaker changed the rate", action=self.name, factor=round(self.breaker.factor, 4))

    def was_busy(self, seconds: float) -> None:
        """Add the time that a handler took."""
        self.metrics.seconds.observe(seconds)
        self._busy += seconds

    def take_busy(self) -> float:
        """The seconds that handlers of this name took in this process since the last call."""
        busy, self._busy = self._busy, 0.0
        return busy

    def state(self) -> dict[str, float]:
        """The state that `switchyard workers` shows."""
        shown: dict[str, float] = {}
        if self.tokens is not None:
            shown["tokens"] = round(self.tokens.left(), 3)
        if self.breaker is not None:
            shown["breaker_factor"] = round(self.breaker.factor, 4)
        return shown
