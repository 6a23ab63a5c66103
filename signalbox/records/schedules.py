"""Schedules: actions that are submitted at times."""

from datetime import datetime
from uuid import UUID

from signalbox.records.base import Record


class Tick(Record):
    """What became of one time of a schedule."""

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
    """When it fires, in words."""
    cron: str | None = None
    """When it fires, as cron."""
    timezone: str
    """The zone of its times."""
    overlap: str
    """What happens while the one before has not ended: skip, allow, queue or replace."""
    catch_up: str
    """What happens to missed times: none, last or all."""
    next_at: datetime | None = None
    """The next time; none while it is paused or has ended."""
    following: list[datetime]
    """The times after that."""
    paused_at: datetime | None = None
    """Since when it is paused."""
    paused_by: str | None = None
    """Who paused it."""
    paused_because: str | None = None
    """Why."""
    open: int
    """How many of its actions have not ended."""
    missed: int
    """How many times were missed."""
    fired: int
    """How many times it fired."""
    skipped: int
    """How many times were skipped because the action before had not ended."""
    queued: int
    """How many times wait for the action before."""
    last_at: datetime | None = None
    """The last time that was handled."""
    revision: int
    """How often it was changed."""
    ticks: list[Tick]
    """The last times, the newest first."""


class Triggered(Record):
    """What was submitted."""

    action_uuid: UUID
    """The action."""


class ScheduleList(Record):
    """All schedules, by name."""

    schedules: list[Schedule]
    """The schedules."""
