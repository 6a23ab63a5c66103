"""What the API returns: the state of an action, and its events."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from switchyard.status import Status

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Graph:
    """The ids of a graph: its own, and those of its nodes by name."""

    action_uuid: UUID
    nodes: Mapping[str, UUID]


@dataclass(frozen=True, slots=True)
class Thread:
    """The current state of one action."""

    action_uuid: UUID
    action_name: str
    workflow: str | None
    parent_uuid: UUID | None
    priority: int
    correlation_id: str | None
    lane: str | None
    tags: Sequence[str] | None
    created_at: datetime
    status: Status
    run: int
    attempt: int
    next_attempt_after: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    last_update: datetime
    error: str | None
    note: str | None
    needs_review: bool
    callbacks_due: bool
    reused: Mapping[str, Any] | None

    @property
    def ended(self) -> bool:
        """Whether the current run has ended, successfully or not."""
        return self.status.ended

    @property
    def successful(self) -> bool:
        """Whether it ended successfully."""
        return self.status is Status.SUCCESSFUL

    @classmethod
    def of(cls, row: Row) -> Self:
        """The record of a row of the query `status`."""
        return cls(**_values(cls, row))


@dataclass(frozen=True, slots=True)
class Event:
    """One state change of an action, or an INFO event, which changes nothing."""

    event_id: int
    event_time: datetime
    status: Status
    run: int | None
    attempt: int | None
    source: str | None
    error: str | None
    retry_seconds: float | None
    detail: Mapping[str, Any] | None
    ignored: bool

    @classmethod
    def of(cls, row: Row) -> Self:
        """The record of a row of the query `events`."""
        return cls(**_values(cls, row))


def uuid_of(value: UUID | str) -> UUID:
    """A UUID column; some drivers return it as text."""
    return value if isinstance(value, UUID) else UUID(value)


def _values(record: type, row: Row) -> dict[str, Any]:
    return {field.name: _value(field.name, row[field.name]) for field in fields(record)}


def _value(name: str, value: Any) -> Any:
    """The value independent of the driver: some return UUID and jsonb columns as text."""
    if value is None:
        return None
    if name.endswith("_uuid"):
        return uuid_of(value)
    if name == "status":
        return Status(value)
    if name in ("detail", "reused") and isinstance(value, str):
        return json.loads(value)
    return value
