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
    """Who paused an action name."""

    since: datetime
    """Since when."""
    actor: str
    """Who."""
    reason: str
    """Why."""


class Queue(Record):
    """What has not ended of one action name."""

    name: str
    """The action name."""
    depth: int
    """All that has not ended."""
    paused: Pause | None = None
    """Who paused it, where somebody did."""
    states: list[QueueState]
    """By status."""


class QueueList(Record):
    """What has not ended, by action name."""

    queues: list[Queue]
    """In the order of their names."""


class Worker(Record):
    """A conductor's worker, a caboose or an assessment worker."""

    worker_id: UUID
    """Its id."""
    kind: str
    """conductor, caboose or assessment."""
    action_name: str | None = None
    """What it serves."""
    host: str
    """Where it runs."""
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
    """How many it ended with success."""
    failed: int
    """How many it ended without."""
    rate: float
    """Actions per second since it started."""
    detail: dict[str, Any]
    """Tokens, breaker factor and the like."""


class WorkerList(Record):
    """The workers that have not ended in order."""

    workers: list[Worker]
    """The running ones first."""


class InboxEntry(Record):
    """Something that waits for a decision."""

    since: datetime
    """Since when."""
    kind: str
    """thread for an action, else the kind of the journal's entry."""
    action_uuid: UUID | None = None
    """The action, where it is one."""
    entry_id: int | None = None
    """The journal's entry, where it is one."""
    subject: str | None = None
    """What it is about."""
    status: str | None = None
    """The action's status."""
    run: int | None = None
    """The action's run."""
    attempt: int | None = None
    """The action's attempt."""
    error: str | None = None
    """What went wrong."""
    note: str | None = None
    """One line for people."""


class Inbox(Record):
    """What waits for a decision, oldest first."""

    entries: list[InboxEntry]
    """The oldest of them."""
    more: bool
    """Whether there are more than these."""


class JournalEntry(Record):
    """Something that happened and belongs to no single action."""

    entry_id: int
    """Its number."""
    entry_time: datetime
    """When."""
    kind: str
    """pause, resume, …"""
    subject: str
    """What it is about."""
    actor: str | None = None
    """Who."""
    reason: str | None = None
    """Why."""
    detail: Any = None
    """What else is known."""
    needs_review: bool
    """Whether it is in the inbox."""


class Journal(Record):
    """What happened, the newest first."""

    entries: list[JournalEntry]
    """This page of them."""
    links: list[Link]
    """The next page, where there is one."""
