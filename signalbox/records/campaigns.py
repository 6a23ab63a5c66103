"""Campaigns: a workflow over the items of a source, as one action."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, StringConstraints

from signalbox.records.base import Record
from signalbox.records.changes import Reason

Cause = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class Campaign(Record):
    """A campaign and its progress."""

    name: str
    """Its name."""
    action_uuid: UUID
    """The action that represents the whole."""
    workflow: str | None = None
    """The workflow that runs over its items."""
    action_name: str
    """The action name that runs it."""
    status: str
    """PENDING while it is open, or its end."""
    source: Any
    """The source of its items."""
    in_flight: int
    """The maximum number of open items."""
    priority: int
    """The priority; smaller values go first."""
    lane: str | None = None
    """Its lane."""
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
    """How many items had an id that was read before."""
    rejected: int
    """How many items could not be used."""
    source_error: str | None = None
    """The reason why the source cannot be read further."""
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
    """The reason."""
    note: str | None = None
    """A summary in one line."""
    per_second: float
    """How many ended per second within the last minutes."""
    last_progress: datetime | None = None
    """When an item was last submitted or ended."""
    seconds_left: float | None = None
    """The time that the remaining items take at that rate."""
    stuck: bool | None = None
    """Whether no item was submitted or ended for an hour."""


class CampaignList(Record):
    """The campaigns, the newest first."""

    campaigns: list[Campaign]
    """At most 500."""
    more: bool
    """Whether there are more."""


class Failure(Record):
    """A cause for which items ended without success."""

    cause: str | None = None
    """The error without the parts that differ between items."""
    failures: int
    """How many items have it."""
    example: UUID
    """One of them."""


class FailureList(Record):
    """Why items of a campaign ended without success, the most frequent cause first."""

    failures: list[Failure]
    """At most 10."""


class OfCause(Record):
    """A filter of failures."""

    cause: Cause | None = None
    """Only those with this cause."""


class CampaignRetrigger(Reason):
    """A retrigger of the items that ended without success, if their number is the expected one."""

    expected: Annotated[int, Field(ge=0, le=1_000_000_000)]
    """The number of items without success that the caller was shown; nothing is done if it has changed."""
    cause: Cause | None = None
    """Only items that failed for this cause, as `/failures` lists it."""


class CampaignRetriggered(Record):
    """How many items run again."""

    retriggered: int
    """Their number."""
