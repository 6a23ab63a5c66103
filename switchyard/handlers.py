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
    """Done: the thread becomes SUCCESSFUL."""

    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Somebody else runs it now and will report the end: the thread becomes QUEUED."""

    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retry:
    """It did not work this time. `delay`: seconds that the other side asked for; else the policy decides.

    `sent`: something may have reached the other side. At-most-once retries only where nothing did.
    `refused`: the other side had no room, a quota for example. That spends none of the policy's attempts.
    """

    error: str
    delay: float | None = None
    sent: bool = True
    refused: bool = False
    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    """It was tried and will not work: the thread becomes FAILED and appears in the inbox."""

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
    resumes: bool = False  # continue where the run before it failed, if you can; else start again

    @property
    def name(self) -> str:
        """What a backend knows this execution by: the uuid, with `-rN` from the second run."""
        return str(self.uuid) if self.run == 1 else f"{self.uuid}-r{self.run}"


@runtime_checkable
class Handler(Protocol):
    """Dispatches one action. `dispatch` is cancelled when its outcome could not be recorded any more.

    A dispatch is cancelled after the action's `timeout`. A handler that watches the time itself, and then
    needs a while to return its outcome, may have an attribute `overtime`: that many seconds more.
    """

    async def start(self) -> None:
        """Open what all dispatches share; raises where it can never work."""

    async def dispatch(self, work: Work, /) -> Outcome:
        """Do it and return the outcome. An exception counts as Retry."""

    async def close(self) -> None:
        """Close what `start` opened."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A decided outcome, plus data (`kept`) that its handler must store before the outcome is recorded."""

    outcome: Outcome
    kept: Any


@runtime_checkable
class DraftingHandler(Handler, Protocol):
    """A handler that stores data with its outcomes, for many of them in one write.

    `dispatch` does both for one action; a worker calls these two instead. If the data cannot be stored, the
    outcome is recorded without it.
    """

    async def draft(self, work: Work, /) -> Outcome | Draft:
        """Do it and return the outcome, or a draft of it."""

    async def conclude(self, drafts: Sequence[Draft], /) -> None:
        """Store the data of these outcomes, and add to their details where it is."""


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
    """Many claimed actions as columns, in the order of the claim; no object is made per action."""

    action_name: str
    uuids: Sequence[UUID]
    runs: Sequence[int]
    dispatched: Sequence[int]  # how often each was dispatched before, in this run

    def __len__(self) -> int:
        return len(self.uuids)


@runtime_checkable
class BatchHandler(Handler, Protocol):
    """A handler that returns the outcomes of many actions at once, without waiting for anything."""

    def dispatch_all(self, batch: Batch, /) -> Outcome | Sequence[Outcome]:
        """One outcome for all of them, or one for each in their order."""
