"""The flows of an action name: what of it takes turns by lane and has limits (ADR 0131).

The database decides what may start. Here is only which flows are claimed in which order, and what the breaker
of a lane has to report with the next claim.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conductor.limits.breaker import Breaker
from switchyard.handlers import Outcome


@dataclass(frozen=True, slots=True)
class Flow:
    """What has lanes and limits, and the steps of its breaker since the last claim."""

    key: str
    slowed: Mapping[str, float] = field(default_factory=dict)

    def values(self) -> dict[str, Any]:
        """The arguments of `lane_claim` that say so."""
        return {"flow": self.key, "slowed": list(self.slowed), "factors": list(self.slowed.values())}


class Flows:
    """The flows of one name in this process, and the steps of the breakers of its lanes."""

    def __init__(self, keys: Sequence[str], breaker: Breaker | None) -> None:
        self._keys = list(keys)
        self._breaker = breaker  # decides by an outcome; its own factor is not used
        self._steps: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self._keys)

    def in_turn(self) -> list[Flow]:
        """All of them, each time with another one first; the breaker's steps are taken along."""
        self._keys.append(self._keys.pop(0))
        steps, self._steps = self._steps, {}
        return [Flow(key, steps) for key in self._keys]

    def observe(self, lane: str, outcome: Outcome) -> None:
        """Remember what an outcome does to its lane."""
        step = self._breaker.step(outcome) if self._breaker is not None else 1.0
        if step != 1.0:
            self._steps[lane] = self._steps.get(lane, 1.0) * step
