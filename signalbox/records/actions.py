"""Actions of any kind."""

from datetime import datetime
from uuid import UUID

from signalbox.records.base import Link, Record


class Action(Record):
    """An action: a job, or a callback."""

    action_uuid: UUID
    """Its id."""
    created_at: datetime
    """When it was submitted."""
    action_type: str
    """workflow or callback."""
    action_name: str
    """The action name that runs it."""
    workflow: str | None = None
    """The workflow that it runs."""
    callback: str | None = None
    """The callback definition that created it."""
    parent_uuid: UUID | None = None
    """The action whose end created it."""
    priority: int
    """The priority; smaller values go first."""
    lane: str | None = None
    """Its lane."""
    tags: list[str] | None = None
    """Its tags."""
    submitted_by: str
    """Who submitted it."""
    correlation_id: str | None = None
    """The correlation id, which is part of every log line, message and webhook."""
    status: str
    """Its status."""
    run: int
    """Its run."""
    attempt: int
    """Its attempt."""
    started_at: datetime | None = None
    """When its run started."""
    ended_at: datetime | None = None
    """When it ended."""
    last_update: datetime
    """When it last changed."""
    error: str | None = None
    """Its last error."""
    note: str | None = None
    """A summary in one line."""
    needs_review: bool
    """Whether it is in the inbox."""


class ActionList(Record):
    """Actions, the newest first."""

    actions: list[Action]
    """The items of this page."""
    links: list[Link]
    """Links to this page, and to the next if there is one."""
