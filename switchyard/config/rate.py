"""The token bucket of an action name."""

from typing import Annotated, Literal

from pydantic import Field

from switchyard.config.model import Model
from switchyard.config.units import PerSecond


class Rate(Model):
    """How many dispatches a second, and how many at once after a quiet time."""

    limit: PerSecond
    """Dispatches per time, like 100/s or 10/min."""
    burst: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """How many tokens the bucket holds: the most that starts at once after a quiet time."""
    scope: Literal["instance", "fleet"] = "instance"
    """`instance`: each conductor has a bucket of its own; `fleet`: all share one, in the database."""
