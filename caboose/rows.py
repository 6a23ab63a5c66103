"""The rows that caboose reads from the ledger, and those that it writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from switchyard.status import Status


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread as it was when it was read, for one observation."""

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
    parameters: Mapping[str, Any]
    own_callbacks: Sequence[Any]  # as the submitter wrote them: anything at all


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
