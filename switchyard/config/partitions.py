"""The ledger's partitions: how wide, how far ahead, how long they stay."""

from typing import Annotated, Literal

from pydantic import Field

from switchyard.config.model import Model
from switchyard.config.units import Interval


class Partitions(Model):
    """Made ahead and dropped whole, by one instance at a time."""

    interval: Literal["day", "week", "month"] = "day"
    """How much time one partition holds."""
    days_ahead: Annotated[int, Field(ge=1, le=3660)] = 14
    """For how many days ahead there are partitions."""
    retention: Annotated[Interval, Field(ge=86400)] | None = None
    """Partitions that ended so long ago are dropped, once nothing in them is open; without it, never."""
    every: Interval = 3600.0
    """How often this is looked after."""
