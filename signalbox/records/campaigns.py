"""Campaigns: a workflow over the items of a source, as one action."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, StringConstraints

from signalbox.records.base import Record
from signalbox.records.changes import Reason

Cause = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class Campaign(Record):
    """One campaign, and how far it is."""

    name: str
    """Its name."""
    action_uuid: UUID
    """The action that is the whole of it."""
    workflow: str | None = None
    """The workflow that runs over its items."""
    action_name: str
    """The action name that runs it."""
    status: str
    """PENDING while it goes on, or its end."""
    source: Any
    """Where its items come from."""
    in_flight: int
    """How many of its items are open at most."""
    priority: int
    """Smaller goes first."""
    lane: str | None = None
    """Whom it belongs to."""
    items: int
    """How many items were read so far."""
    complete: bool
    """Whether the source was read to its end."""
    waiting: int
    """How many items were not submitted yet."""
    open: int
    """How many are open."""
    successful: int
    """How many were successful."""
    unsuccessful: int
    """How many ended without success."""
    repeated: int
    """How many items had an id that was there already."""
    rejected: int
    """How many items could not be used."""
    source_error: str | None = None
    """Why the source cannot be read further."""
    started_by: str
    """Who started it."""
    created_at: datetime
    """When it was started."""
    ended_at: datetime | None = None
    """When it ended."""
    paused_at: datetime | None = None
    """Since when it is paused."""
    paused_by: str | None = None
    """Who paused it."""
    paused_because: str | None = None
    """Why."""
    note: str | None = None
    """One line for people."""
    per_second: float
    """How many ended per second within the last minutes."""
    last_progress: datetime | None = None
    """When an item was last submitted or ended."""
    seconds_left: float | None = None
    """How long the rest takes at that rate."""
    stuck: bool | None = None
    """Whether nothing of it has moved for an hour."""


class CampaignList(Record):
    """The campaigns, the newest first."""

    campaigns: list[Campaign]
    """At most 500."""
    more: bool
    """Whether there are more."""


class Failure(Record):
    """A cause for which items ended without success."""

    cause: str | None = None
    """The error without what differs between items."""
    failures: int
    """How many items have it."""
    example: UUID
    """One of them."""


class FailureList(Record):
    """Why items of a campaign ended without success, the most frequent cause first."""

    failures: list[Failure]
    """At most 10."""


class OfCause(Record):
    """Which failures."""

    cause: Cause | None = None
    """Only those with this cause."""


class CampaignRetrigger(Reason):
    """A retrigger of what ended without success, if it is as much as was shown."""

    expected: Annotated[int, Field(ge=0, le=1_000_000_000)]
    """How many items without success the caller was shown; nothing is done where the number has changed."""
    cause: Cause | None = None
    """Only items that failed for this cause, as `/failures` lists it."""


class CampaignRetriggered(Record):
    """How many items run again."""

    retriggered: int
    """Their number."""
