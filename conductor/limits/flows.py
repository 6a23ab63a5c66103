"""The flows of an action name: its queues with lanes and limits (ADR 0131).

The database decides what may start. This module decides only the order in which flows are claimed, and
reports the breaker steps of lanes with the next claim.
"""

from collections.abc import Sequence
from typing import Any

from conductor.limits.breaker import Breaker
from switchyard.handlers import Outcome


class Flow:
    """A queue with lanes and limits, and the breaker steps of its lanes since the last claim."""

    def __init__(self, key: str) -> None:
        self.key = key
        self._steps: dict[str, float] = {}

    def slow(self, lane: str, step: float) -> None:
        """Remember a breaker step until the next claim."""
        self._steps[lane] = self._steps.get(lane, 1.0) * step

    def values(self) -> dict[str, Any]:
        """The remembered steps as arguments of `lane_claim`; remember them again if the claim gives up."""
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
        """All flows, starting with a different one each time."""
        self._flows.append(self._flows.pop(0))
        return list(self._flows)

    def observe(self, lane: str, outcome: Outcome) -> None:
        """Remember the breaker step that an outcome means for its lane."""
        step = self._breaker.step(outcome) if self._breaker is not None else 1.0
        if step != 1.0:
            for flow in self._flows:
                flow.slow(lane, step)
