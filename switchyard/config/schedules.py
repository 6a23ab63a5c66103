"""Schedules: what is submitted at which times."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, AwareDatetime, Field, model_validator

from switchyard.config.model import Model
from switchyard.config.names import Name, PlainText
from switchyard.config.units import Duration
from switchyard.schedules.times import Times, check_cron, check_zone

Cron = Annotated[
    str, AfterValidator(check_cron), Field(max_length=200, examples=["0 2 * * *", "*/15 * * * *", "@daily"])
]
Zone = Annotated[str, AfterValidator(check_zone), Field(max_length=100, examples=["UTC", "Europe/London"])]


class Schedule(Model):
    """An action or workflow that is submitted at set times; `switchyard schedules apply` applies changes."""

    workflow: Name | None = None
    """The workflow to run."""
    action: Name | None = None
    """The action name, if it is not a workflow."""
    parameters: Mapping[str, Any] = {}
    """The parameters of every submission."""
    time_parameter: Name | None = None
    """A parameter that receives the time of the tick, in UTC, like 2026-03-29T01:00:00Z."""
    priority: Annotated[int, Field(ge=-32768, le=32767)] = 100
    """A lower number runs first."""
    lane: PlainText | None = None
    """The lane of its actions."""
    cron: Cron | None = None
    """Minute, hour, day of month, month, day of week; or @hourly, @daily, @weekly, @monthly, @yearly."""
    every: Annotated[Duration, Field(ge=1, le=366 * 86400)] | None = None
    """Instead of cron: an interval, counted from `start`, or else from midnight UTC of 1 January 1970."""
    timezone: Zone = "UTC"
    """The zone of cron. A time that a clock change skips fires after the gap; one that it repeats, once."""
    overlap: Literal["skip", "allow", "queue", "replace"] = "skip"
    """A tick while the previous action is open: is skipped, runs beside it, waits for it, or cancels it."""
    catch_up: Literal["none", "last", "all"] = "last"
    """Which ticks of an outage fire after it: none, the last one, or all."""
    window: Annotated[Duration, Field(ge=60, le=366 * 86400)] = 86400.0
    """Ticks that are older than this never catch up."""
    jitter: Annotated[Duration, Field(le=86400)] = 0.0
    """Its actions start up to this much later, by a hash of the schedule's name: the same at every tick."""
    start: AwareDatetime | None = None
    """No tick before this time."""
    end: AwareDatetime | None = None
    """No tick at or after this time."""

    @property
    def times(self) -> Times:
        """When it fires."""
        return Times(self.cron, self.every, self.timezone, self.start, self.end)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.workflow is None) == (self.action is None):
            raise ValueError("give either workflow or action")
        if (self.cron is None) == (self.every is None):
            raise ValueError("give either cron or every")
        if self.every is not None and self.timezone != "UTC":
            raise ValueError("timezone is for cron; an interval is the same in every zone")
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise ValueError("start must be before end")
        return self
