"""The handler interface: what conductor passes to a handler, and the outcomes it may return.

A third party registers its handler as part of a `Backend` (switchyard/backends/plugin.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, runtime_checkable
from uuid import UUID

Detail = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Success:
    """Done; nothing more will be heard of it."""

    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Somebody else runs it now and will report the end: the thread becomes QUEUED."""

    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retry:
    """Not this time. `delay` is what the other side asked for, in seconds; else the policy decides.

    `sent`: something may have reached the other side. At-most-once retries only where nothing did.
    """

    error: str
    delay: float | None = None
    sent: bool = True
    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    """It was tried and will not work; an administrator has to look."""

    error: str
    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Invalid:
    """The configuration or the parameters are wrong: trying again cannot help."""

    error: str
    detail: Detail = field(default_factory=dict)


Outcome = Success | HandedOver | Retry | Failed | Invalid


@dataclass(frozen=True, slots=True)
class Work:
    """One claimed action, as a handler sees it. Every attempt of a run carries the same (uuid, run)."""

    uuid: UUID
    run: int
    attempt: int  # 1 for the first dispatch of the run
    last_attempt: bool  # no retry will follow this one
    action_name: str
    workflow: str | None
    callback: str | None
    parent_uuid: UUID | None
    parameters: Mapping[str, Any]
    correlation_id: str | None
    created_at: datetime

    @property
    def name(self) -> str:
        """What a backend knows this execution by: the uuid, with `-rN` from the second run."""
        return str(self.uuid) if self.run == 1 else f"{self.uuid}-r{self.run}"


@runtime_checkable
class Handler(Protocol):
    """Dispatches one action. Cancelling `dispatch` tells it to stop: its outcome will not be written.

    A dispatch is cancelled after the action's `timeout`. A handler that keeps the time itself, and afterwards
    needs a while to say what came of it, may have an attribute `overtime`: so many seconds more.
    """

    async def start(self) -> None:
        """Open what all dispatches share; raises where it can never work."""

    async def dispatch(self, work: Work, /) -> Outcome:
        """Do it, and say what it came to. An exception that escapes counts as Retry."""

    async def close(self) -> None:
        """Let go of what `start` opened."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An outcome that stands, and what of it is to be kept before it is told; `kept` is the handler's own."""

    outcome: Outcome
    kept: Any


@runtime_checkable
class DraftingHandler(Handler, Protocol):
    """A handler that has something durable to write for its outcomes, for many in one go.

    `dispatch` does both for one action; a worker calls these two instead. What cannot be kept costs what the
    outcome says of it, never the outcome.
    """

    async def draft(self, work: Work, /) -> Outcome | Draft:
        """Do it, and say what it came to."""

    async def conclude(self, drafts: Sequence[Draft], /) -> None:
        """Keep what belongs to these outcomes, and note in their details where it is."""


@dataclass(frozen=True, slots=True)
class HandlerContext:
    """What every handler may use of the program around it: Config, Store, and secrets by reference.

    Loosely typed, so that a third party can test its handler without ours.
    """

    config: Any
    store: Any
    secrets: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """Many claimed actions as columns, in the order of the claim: nothing is made per action."""

    action_name: str
    uuids: Sequence[UUID]
    runs: Sequence[int]
    dispatched: Sequence[int]  # how often each was dispatched before, in this run

    def __len__(self) -> int:
        return len(self.uuids)


@runtime_checkable
class BatchHandler(Handler, Protocol):
    """A handler that answers for many at once, without waiting for anything."""

    def dispatch_all(self, batch: Batch, /) -> Outcome | Sequence[Outcome]:
        """One outcome that stands for all of them, or one for each in their order."""
