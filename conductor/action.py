"""The record of a claimed action, from taking its lock to writing its event."""

import asyncio
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

from switchyard.handlers import Draft, Work

LAST_ATTEMPT = 1_000_000  # no policy allows that many; the next number must still fit the column


class State(Enum):
    """The state of a claimed action; its lock is held in every state but the last."""

    CLAIMED = "claimed"
    RUNNING = "running"  # its handler is at work
    DRAFTED = "drafted"  # it has an outcome, and data that must be stored before the outcome is recorded
    DECIDED = "decided"  # its event is known and not yet written
    WRITTEN = "written"  # committed; its lock is still to be given back
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class Decision:
    """The event to write: its status and its other columns."""

    status: str
    error: str | None = None
    retry_seconds: float | None = None
    detail: str | None = None


@dataclass(slots=True, eq=False)
class ClaimedAction:
    """One action whose advisory lock this session holds."""

    uuid: UUID
    run: int
    attempt: int  # the number of this dispatch
    lock: int
    work: Work | None = None  # what a handler sees; None where nobody asked for it, or it could not be read
    state: State = State.CLAIMED
    task: asyncio.Task[None] | None = None
    draft: Draft | None = None
    decision: Decision | None = None
    refused: int = 0  # earlier dispatches of the run that spent no attempt; known at what may be the last one
    lane: str | None = None  # for the breaker; None where its name has no lanes and limits

    @property
    def event(self) -> Decision:
        """The decision; only for actions that have one."""
        assert self.decision is not None, "not decided yet"
        return self.decision
