"""Records for operators: queues, workers, the inbox and the journal."""

from datetime import datetime
from typing import Any
from uuid import UUID

from signalbox.records.base import Link, Record


class QueueState(Record):
    """How many actions of a name are in one status."""

    status: str
    """PENDING, QUEUED, RUNNING or BACKOFF."""
    depth: int
    """How many there are."""
    processable: int
    """How many could be claimed now."""
    oldest: datetime | None = None
    """When the oldest of them was submitted."""
    next_due: datetime | None = None
    """When the next one that waits is due."""


class Pause(Record):
    """The pause of an action name."""

    since: datetime
    """Since when."""
    actor: str
    """The actor."""
    reason: str
    """The reason."""


class Queue(Record):
    """The open actions of one action name."""

    name: str
    """The action name."""
    depth: int
    """The number of open actions."""
    paused: Pause | None = None
    """The pause, if it is paused."""
    states: list[QueueState]
    """By status."""


class QueueList(Record):
    """The open actions, by action name."""

    queues: list[Queue]
    """In the order of their names."""


class Worker(Record):
    """A conductor's worker, a caboose or an assessment worker."""

    worker_id: UUID
    """Its id."""
    kind: str
    """conductor, caboose or assessment."""
    action_name: str | None = None
    """The action name that it serves."""
    host: str
    """The host that it runs on."""
    zone: str | None = None
    """The zone of that host."""
    pid: int | None = None
    """Its process id."""
    version: str | None = None
    """The version it runs."""
    started_at: datetime
    """When it started."""
    beat_at: datetime
    """Its last heartbeat."""
    state: str
    """running, lost or ended."""
    done: int
    """How many actions it ended with success."""
    failed: int
    """How many actions it ended without success."""
    rate: float
    """Actions per second since it started."""
    detail: dict[str, Any]
    """Tokens, breaker factor and the like."""


class WorkerList(Record):
    """The workers, except those that were shut down in order."""

    workers: list[Worker]
    """The running ones first."""


class InboxEntry(Record):
    """An entry that waits for a decision."""

    since: datetime
    """Since when."""
    kind: str
    """thread for an action, otherwise the kind of the journal entry."""
    action_uuid: UUID | None = None
    """The action, if it is one."""
    entry_id: int | None = None
    """The journal entry, if it is one."""
    subject: str | None = None
    """Its subject."""
    status: str | None = None
    """The action's status."""
    run: int | None = None
    """The action's run."""
    attempt: int | None = None
    """The action's attempt."""
    error: str | None = None
    """The error."""
    note: str | None = None
    """A summary in one line."""


class Inbox(Record):
    """The entries that wait for a decision, oldest first."""

    entries: list[InboxEntry]
    """The oldest of them."""
    more: bool
    """Whether there are more than these."""


class JournalEntry(Record):
    """An event that does not belong to a single action."""

    entry_id: int
    """Its number."""
    entry_time: datetime
    """The time."""
    kind: str
    """pause, resume, …"""
    subject: str
    """Its subject."""
    actor: str | None = None
    """The actor."""
    reason: str | None = None
    """The reason."""
    detail: Any = None
    """Further details."""
    needs_review: bool
    """Whether it is in the inbox."""


class Journal(Record):
    """The entries of the journal, the newest first."""

    entries: list[JournalEntry]
    """The items of this page."""
    links: list[Link]
    """A link to the next page, if there is one."""
