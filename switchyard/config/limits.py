"""Limits for the whole fleet: per action name, per workflow, and per lane of either."""

import math
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from switchyard.config.model import Model
from switchyard.config.units import PerSecond

PATH = r"^\$(\.[A-Za-z_][A-Za-z0-9_]*|\.\"[^\"\\\x00]+\"|\[[0-9]{1,6}\])+$"

LanePath = Annotated[str, StringConstraints(pattern=PATH, max_length=500)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
LaneName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Weight = Annotated[float, Field(ge=0.01, le=1000)]


class _Bucket(Model):
    """A rate with its burst."""

    rate: PerSecond | None = None
    """Dispatches per time, like 100/s or 10/min."""
    burst: Count | None = None
    """The most that starts at once after a quiet time; without it, what the rate allows in one second."""

    @model_validator(mode="after")
    def _burst_has_a_rate(self) -> Self:
        if self.burst is not None and self.rate is None:
            raise ValueError("a burst needs a rate")
        return self

    @property
    def tokens(self) -> int | None:
        """The burst, given or derived; None without a rate."""
        if self.rate is None:
            return None
        return self.burst or max(1, math.ceil(self.rate))


class LaneLimits(_Bucket):
    """The limits of each lane."""

    in_flight: Count | None = None
    """Dispatches in flight at once in one lane."""


class Limits(_Bucket):
    """The limits of an action name, for all conductors together. Types may add limits of each dispatch."""

    in_flight: Count | None = None
    """Dispatches in flight at once."""
    per_lane: LaneLimits = LaneLimits()
    """Limits within each lane, besides those of the name."""
    weights: dict[LaneName, Weight] = Field(default_factory=dict)
    """How often a lane has its turn compared with the others; 1 where it is not listed."""

    @property
    def for_fleet(self) -> bool:
        """Whether any limit is given that all conductors share."""
        mine = self.in_flight, self.rate, self.per_lane.in_flight, self.per_lane.rate
        return bool(self.weights) or any(limit is not None for limit in mine)


class LaneRunning(Model):
    """The limit of each lane of a workflow."""

    running: Count
    """Executions at the backend at once, queued ones included, of one lane."""


class RunningLimits(Model):
    """Limits on concurrent executions of a workflow, for all conductors together."""

    running: Count | None = None
    """Executions at the backend at once, queued ones included."""
    per_lane: LaneRunning | None = None
    """The limit of each lane."""

    @model_validator(mode="after")
    def _limits_something(self) -> Self:
        if self.running is None and self.per_lane is None:
            raise ValueError("give running, per_lane, or both")
        return self
