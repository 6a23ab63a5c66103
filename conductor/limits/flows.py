"""The flows of an action name: what of it takes turns by lane and has limits (ADR 0131).

The database decides what may start. Here is only which flows are claimed in which order, and what the breaker
of a lane has to report with the next claim.
"""

from collections.abc import Sequence
from typing import Any

from conductor.limits.breaker import Breaker
from switchyard.handlers import Outcome


class Flow:
    """What has lanes and limits, and the steps of its lanes' breakers since the last claim."""

    def __init__(self, key: str) -> None:
        self.key = key
        self._steps: dict[str, float] = {}

    def slow(self, lane: str, step: float) -> None:
        """Remember a step until the next claim."""
        self._steps[lane] = self._steps.get(lane, 1.0) * step

    def values(self) -> dict[str, Any]:
        """The arguments of `lane_claim` that say so; a claim that gives up must remember the steps again."""
        steps, self._steps = self._steps, {}
        return {"flow": self.key, "slowed": list(steps), "factors": list(steps.values())}


class Flows:
    """The flows of one name in this process."""

    def __init__(self, keys: Sequence[str], breaker: Breaker | None) -> None:
        self._flows = [Flow(key) for key in keys]
        self._breaker = breaker  # decides by an outcome; its own factor is not used

    def __bool__(self) -> bool:
        return bool(self._flows)

    def in_turn(self) -> list[Flow]:
        """All of them, each time with another one first."""
        self._flows.append(self._flows.pop(0))
        return list(self._flows)

    def observe(self, lane: str, outcome: Outcome) -> None:
        """Remember what an outcome does to its lane."""
        step = self._breaker.step(outcome) if self._breaker is not None else 1.0
        if step != 1.0:
            for flow in self._flows:
                flow.slow(lane, step)
