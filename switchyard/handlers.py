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
    """A backend has accepted it and will report its end: the thread becomes QUEUED."""

    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retry:
    """It failed and may work later. `delay`: seconds that the other side requested; else the policy decides.

    `sent`: something may have reached the other side; at-most-once actions are retried only if nothing did.
    `refused`: the other side had no capacity, such as a quota. This uses none of the policy's attempts.
    """

    error: str
    delay: float | None = None
    sent: bool = True
    refused: bool = False
    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    """It failed for good: the thread becomes FAILED and appears in the inbox."""

    error: str
    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Invalid:
    """The configuration or the parameters are wrong: a retry cannot help."""

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
        """The name of this execution at a backend: the uuid, with `-rN` from the second run."""
        return str(self.uuid) if self.run == 1 else f"{self.uuid}-r{self.run}"


@runtime_checkable
class Handler(Protocol):
    """Dispatches one action. `dispatch` is cancelled when its outcome can no longer be recorded.

    A dispatch is cancelled after the action's `timeout`. A handler that enforces the timeout itself, and then
    needs time to return its outcome, may have an attribute `overtime`: additional seconds.
    """

    async def start(self) -> None:
        """Open what all dispatches share; raises if the handler can never work."""

    async def dispatch(self, work: Work, /) -> Outcome:
        """Dispatch the action and return its outcome. An exception counts as Retry."""

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
        """Dispatch the action and return its outcome, or a draft of it."""

    async def conclude(self, drafts: Sequence[Draft], /) -> None:
        """Store the data of these outcomes, and add its location to their details."""


@dataclass(frozen=True, slots=True)
class HandlerContext:
    """What the program provides to a handler: Config, Store, and secrets by reference.

    Loosely typed, so that a third party can test its handler without ours.
    """

    config: Any
    store: Any
    secrets: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """Many claimed actions as columns, in the order of the claim; no object is created per action."""

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
        """Return one outcome for all actions, or one for each in their order."""
