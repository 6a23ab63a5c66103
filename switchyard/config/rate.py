"""The token bucket of an action name."""

import math
from typing import Annotated, Literal

from pydantic import Field

from switchyard.config.model import Model
from switchyard.config.units import PerSecond


def _one_second(data: dict[str, float]) -> int:
    return max(1, math.ceil(data["limit"]))


class Rate(Model):
    """How many dispatches a second, and how many at once after a quiet time."""

    limit: PerSecond
    """Dispatches per time, like 100/s or 10/min."""
    burst: Annotated[int, Field(ge=1, le=1_000_000)] = Field(default_factory=_one_second)
    """The most that starts at once after a quiet time; without it, what the limit allows in one second."""
    scope: Literal["instance", "fleet"] = "instance"
    """`instance`: each conductor has its own bucket; `fleet`: all share one, in the database."""
