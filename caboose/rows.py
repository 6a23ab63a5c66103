"""The rows that caboose reads from the ledger, and those that it writes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from switchyard.status import Status


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread as read for one observation."""

    position: int  # of the observation in the batch, from 1
    action_uuid: UUID
    status: Status
    run: int
    attempt: int
    tries: int
    lock_id: int
    action_name: str
    workflow: str | None
    correlation_id: str | None
    slow_callbacks: bool  # its own callbacks may have JSONPaths that take long
    recorded: bool  # the observed end of the observed run is in the ledger already
    any_end_recorded: bool  # some end of the observed run is

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", Status(self.status))


@dataclass(frozen=True, slots=True)
class Due:
    """An end whose callbacks are due."""

    uuid: UUID
    run: int
    status: Status
    attempt: int
    action_name: str
    workflow: str | None
    reused: Mapping[str, Any] | None  # whose result it has, where it was not computed again

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", Status(self.status))


@dataclass(frozen=True, slots=True)
class Ended:
    """A recorded end, with everything that its callbacks may refer to."""

    uuid: UUID
    run: int
    status: Status
    error: str | None
    action_name: str
    workflow: str | None
    priority: int
    correlation_id: str | None
    started_at: datetime | None
    ended_at: datetime
    callbacks_at: datetime  # in the uuids of its callbacks: ended_at, or now where its partition was dropped
    parameters: str  # JSON text, which Python may be unable to decode
    own_callbacks: str | None  # JSON text, as the submitter wrote it

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", Status(self.status))


@dataclass(frozen=True, slots=True)
class Planned:
    """One callback to insert. `invalid`: it can never run, and is inserted so that a person sees why."""

    uuid: UUID
    action_name: str
    workflow: str | None
    callback: str
    priority: int
    parameters: Mapping[str, Any]
    invalid: str | None = None
    size: int = 0  # of the parameters, about


@dataclass(frozen=True, slots=True)
class Overdue:
    """A workflow past its timeout."""

    uuid: UUID
    run: int
    workflow: str
    seconds: float


@dataclass(frozen=True, slots=True)
class OpenExecution:
    """An execution that was handed over to a backend and has not ended, as far as the ledger knows."""

    uuid: UUID
    run: int
    lock_id: int
    action_name: str
    workflow: str | None
    silent: float
    handover: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Event:
    """One event to insert."""

    uuid: UUID
    run: int
    status: Status
    error: str | None = None
    retry_seconds: float | None = None
    detail: Mapping[str, Any] | None = None
