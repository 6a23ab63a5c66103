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
    """The callback definition that made it."""
    parent_uuid: UUID | None = None
    """The action whose end made it."""
    priority: int
    """Smaller goes first."""
    lane: str | None = None
    """Whom it belongs to."""
    tags: list[str] | None = None
    """Words to find it by."""
    submitted_by: str
    """Who submitted it."""
    correlation_id: str | None = None
    """Goes along into every log line, message and webhook."""
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
    """What went wrong last."""
    note: str | None = None
    """One line for people."""
    needs_review: bool
    """Whether it is in the inbox."""


class ActionList(Record):
    """Actions, the newest first."""

    actions: list[Action]
    """This page of them."""
    links: list[Link]
    """This page, and the next where there is one."""
