"""Schedules: actions that are submitted at times."""

from datetime import datetime
from uuid import UUID

from signalbox.records.base import Record


class Tick(Record):
    """The outcome of one tick of a schedule."""

    tick_at: datetime
    """The time."""
    outcome: str
    """fired, skipped, queued, triggered or backfilled."""
    action_uuid: UUID | None = None
    """The action that was submitted."""
    status: str | None = None
    """The status of that action."""


class Schedule(Record):
    """One schedule."""

    name: str
    """Its name."""
    action_name: str
    """The action name that it submits to."""
    workflow: str | None = None
    """The workflow that it submits."""
    words: str
    """Its times, in words."""
    cron: str | None = None
    """Its times, as a cron expression."""
    timezone: str
    """The zone of its times."""
    overlap: str
    """How a tick is handled while the previous action is open: skip, allow, queue or replace."""
    catch_up: str
    """Which missed ticks fire: none, last or all."""
    next_at: datetime | None = None
    """The next time; none while it is paused or has ended."""
    following: list[datetime]
    """The times after that."""
    paused_at: datetime | None = None
    """Since when it is paused."""
    paused_by: str | None = None
    """Who paused it."""
    paused_because: str | None = None
    """The reason."""
    open: int
    """How many of its actions have not ended."""
    missed: int
    """How many times were missed."""
    fired: int
    """How many times it fired."""
    skipped: int
    """How many ticks were skipped because the previous action had not ended."""
    queued: int
    """How many ticks wait for the previous action."""
    last_at: datetime | None = None
    """The last time that was handled."""
    revision: int
    """How often it was changed."""
    ticks: list[Tick]
    """The last times, the newest first."""


class Triggered(Record):
    """The submitted action."""

    action_uuid: UUID
    """The action."""


class ScheduleList(Record):
    """All schedules, by name."""

    schedules: list[Schedule]
    """The schedules."""
