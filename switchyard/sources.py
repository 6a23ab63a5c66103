"""The source interface: how caboose observes, stops and forgets executions at one backend.

A source reports what it sees, in any order and as often as it likes: the ledger's roll-up and caboose's
idempotent steps make each report count once. It must report every end at least once until `forget` is called
for it. It never writes to the database.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable
from uuid import UUID

from switchyard.status import Status

Acknowledge = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Notice:
    """An inbox entry about something without a thread, such as a message that cannot be read."""

    subject: str  # where it came from
    reason: str
    key: str  # the same for every report of the same thing
    detail: Mapping[str, Any]
    acknowledge: Acknowledge


@dataclass(frozen=True, slots=True)
class Observation:
    """What a source observed of one execution, at one time."""

    uuid: UUID
    run: int
    status: Status | None  # None: it was there and is gone; the core decides after a grace, by a fresh look
    error: str | None = None
    fatal: bool = False  # exit code 65: no retry at any level
    exit_code: int | None = None
    output: Mapping[str, Any] | None = None  # output parameters; the output file in the store goes first
    record: bytes | None = None  # the whole resource, state or exit record, for the archive; with every end
    detail: Mapping[str, Any] = field(default_factory=dict)  # for the event; never decides
    handle: Any = None  # the source's own: what `forget` and `log` need
    poison: Notice | None = None  # it came often: the inbox entry if the ledger refuses it
    acknowledge: Acknowledge | None = None  # awaited once recorded, if it is not an end; an end is forgotten
    written_in: int | None = (
        None  # the earlier run in whose folder its files are, if it continued that execution
    )


@dataclass(frozen=True, slots=True)
class Beat:
    """A backend's worker reports that it started, is alive or ended."""

    worker: str
    kind: str
    event: str  # started, beat or ended
    done: int
    failed: int
    rate: float
    acknowledge: Acknowledge


@dataclass(frozen=True, slots=True)
class Notification:
    """An action to submit once per `key`, because a job ended that no action had submitted."""

    action_name: str
    key: str
    parameters: Mapping[str, Any]
    correlation_id: str | None


@dataclass(frozen=True, slots=True)
class Unfollowed:
    """A report about a job without a thread: a front end put it on the queue itself."""

    acknowledge: Acknowledge
    notify: Notification | None = None


Seen = Observation | Beat | Notice | Unfollowed


@runtime_checkable
class Source(Protocol):
    """One backend. All methods raise `switchyard.errors.Transient` if a retry can help."""

    name: str
    one_observer: bool  # True where only one caboose of a shard may observe it: the others stand by
    can_look: bool  # False where a backend has no names to ask by; then only a timeout ends what stays silent

    async def start(self) -> None:
        """Open connections; raises if the source can never work."""

    def observations(self) -> AsyncIterator[Seen]:
        """Yield all executions that exist, then every change, until closed. A slow consumer slows it down."""

    def answers_for(self, uuid: UUID, handed: Mapping[str, Any], /) -> bool:
        """Whether the execution is in this caboose's share.

        `handed` is what conductor recorded at the handover, such as the spool of the execution.
        """

    def present(self, uuid: UUID, run: int) -> bool | None:
        """Whether it existed when last observed; None if this source needs a request to know."""

    async def look(self, uuid: UUID, run: int) -> Observation | None:
        """Look up the execution by name, bypassing caches; None if it does not exist."""

    async def log(self, observation: Observation) -> bytes | None:
        """The end of its log, if the backend has one."""

    async def stop_execution(self, uuid: UUID, run: int, reason: str) -> None:
        """Ask the backend to stop it. If it is missing or has ended, that is not an error."""

    async def forget(self, observation: Observation) -> None:
        """Delete or acknowledge the observed execution, and nothing newer; idempotent."""

    async def ready(self) -> bool:
        """Whether it has listed its whole backend and the backend still answers."""

    async def close(self) -> None:
        """Stop observing and close the connections."""


@dataclass(frozen=True, slots=True)
class ServedSource:
    """A source, the action names whose executions it observes, and the times of reconcile in seconds."""

    source: Source
    names: tuple[str, ...]
    every: float = 15.0
    """Between two comparisons of the ledger with the backend."""
    grace: float = 15.0
    """How long an execution may be missing before it counts as failed."""
    silent: float = 300.0
    """After so long without a report of an execution, the source is asked for it by name."""
