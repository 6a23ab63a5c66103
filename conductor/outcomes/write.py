"""Writing events: many in one statement, each exactly once, through the session that holds their locks.

Any row may be the one that fails a statement, so a group that failed is written again without that row:

- a row is locked by another transaction (sqlstate 40, 55): one statement finds the free rows, whatever their
  number; those are written, the others keep their locks and are tried again.
- the statement timed out (57014): the group is halved.
- the thread was dropped by retention (23503, 23514): there is nothing to write; its lock is released.
- only a partition is missing (23514): that row keeps its lock and is tried again.
- the row has a value that the ledger, or Python, refuses: the group is halved until that row is alone,
  and it is written as FAILED with a plain text. If that is refused too, it keeps its lock and is tried again.
- the server accepts no writes now (read-only, disk full, anything else): nothing was written, the locks stay,
  the worker dispatches nothing more until a write goes through.
- the session is lost: the outcomes are dropped; whoever claims next decides.

One call takes a few seconds at most, so that the worker can send heartbeats in between.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import psycopg

from conductor.action import ClaimedAction, Decision, State
from conductor.claim.claim import ClaimedBatch
from conductor.limits.served_name import ServedName
from conductor.outcomes.decide import unwritable
from conductor.registry import Registration
from conductor.session.arrays import Floats, Ints, Texts, Uuids
from conductor.session.session import Session
from switchyard.ledger.errors import blames_row, is_blocked, lacks_partition
from switchyard.ledger.queries import query
from switchyard.process import tracing
from switchyard.process.log import get_logger

log = get_logger(__name__)

WRITE = query("conductor", "write")
WRITE_BATCH = query("conductor", "write_batch")
RUNNING_NOW = query("conductor", "running_now")
FREE_ROWS = query("conductor", "free_rows")
FORGET_GONE = query("conductor", "forget_gone")

RUNNING = Decision("RUNNING")
REFUSED_AGAIN = 0.5  # how often a write is tried again while the server takes none
WITHIN = 2.0  # seconds; past it, what is left of a group waits for the next call
CAREFUL_FOR = 2.0  # seconds after a lock in which writes look for locks first, instead of waiting for them
CAREFUL_GROUP = 50  # rows in a statement meanwhile
BAD_ENDS = frozenset({"FAILED", "INVALID", "RETRIES_EXHAUSTED"})


@dataclass(slots=True)
class Written:
    """The result of writing a group."""

    written: list[ClaimedAction] = field(default_factory=list)
    gone: list[ClaimedAction] = field(default_factory=list)  # their threads no longer exist
    left: list[ClaimedAction] = field(default_factory=list)  # their locks stay, try again
    refused: str | None = None  # the server takes no writes now

    @property
    def unlockable(self) -> list[ClaimedAction]:
        """The actions whose locks are no longer needed."""
        return self.written + self.gone


def is_slow(error: Exception) -> bool:
    """Whether the server cancelled the statement because of a time limit."""
    return isinstance(error, psycopg.Error) and error.sqlstate == "57014"


def is_locked(error: Exception) -> bool:
    """Whether a row is locked; a retry may work in a moment."""
    return isinstance(error, psycopg.Error) and is_blocked(error) and not is_slow(error)


def is_homeless(error: Exception) -> bool:
    """Whether a row has no partition: maintenance may create it, or retention dropped it."""
    return isinstance(error, psycopg.Error) and lacks_partition(error)


def is_poison(error: Exception) -> bool:
    """Whether a row itself cannot be written: the ledger refuses it, or it cannot even be sent."""
    return not isinstance(error, psycopg.Error) or blames_row(error)


async def write(session: Session, actions: Sequence[ClaimedAction], *, careful: bool = False) -> Written:
    """Write the decisions of all actions, in as few statements as possible.

    `careful`: some rows are known to be locked, so the free rows are found first, without waiting.
    """
    done = Written()
    pending = [list(actions)]
    until = time.monotonic() + WITHIN
    if careful:
        free = await _free(session, pending.pop(), done)
        pending = [free[n : n + CAREFUL_GROUP] for n in range(0, len(free), CAREFUL_GROUP)]
    while pending and done.refused is None:
        group = pending.pop()
        if time.monotonic() > until:
            done.left += group
            continue
        try:
            await _insert(session, group)
        except Exception as error:
            if session.lost:
                raise
            pending += await _smaller(session, group, error, done)
        else:
            done.written += group
    done.left += [action for group in pending for action in group]
    for action in done.written:
        action.state = State.WRITTEN
    return done


async def write_batch(session: Session, batch: ClaimedBatch, decision: Decision) -> None:
    """Write one decision for a whole batch; errors are the caller's."""
    await session.rows(
        WRITE_BATCH,
        {
            "uuids": batch.uuids,
            "runs": batch.runs,
            "attempts": batch.attempts,
            "status": decision.status,
            "error": decision.error,
            "retry_seconds": decision.retry_seconds,
            "detail": decision.detail,
        },
    )


async def running_now(
    session: Session, actions: Sequence[ClaimedAction]
) -> tuple[list[ClaimedAction], list[ClaimedAction]]:
    """The actions that the ledger shows as RUNNING at exactly this run and attempt, and the others.

    A cancel may have been committed between the claim and the RUNNING event, which is then ignored: what is
    sent at most once is sent only if a new query shows that the event took effect.
    """
    values = {
        "uuids": Uuids.of([action.uuid for action in actions]),
        "runs": Ints.of([action.run for action in actions]),
        "attempts": Ints.of([action.attempt for action in actions]),
    }
    [[found]] = await session.rows(RUNNING_NOW, values)
    running: set[UUID] = set(found)
    return (
        [action for action in actions if action.uuid in running],
        [action for action in actions if action.uuid not in running],
    )


async def _smaller(
    session: Session, group: list[ClaimedAction], error: Exception, done: Written
) -> list[list[ClaimedAction]]:
    """The part of a failed group to try again, without the rows that are known to be the reason."""
    rest = group
    if is_locked(error):
        rest = await _free(session, group, done)
    elif not (is_poison(error) or is_slow(error) or is_homeless(error)):
        done.refused = " ".join(str(error).split())
        return [group]
    elif isinstance(error, psycopg.Error) and error.sqlstate in ("23503", "23514"):
        rest = await _without_gone(session, group, done)
    if len(rest) < len(group):
        return [rest] if rest else []
    if len(group) > 1:
        middle = len(group) // 2
        return [group[middle:], group[:middle]]
    if is_poison(error):
        await _insert_as_failed(session, group[0], error, done)
    else:
        done.left += group
    return []


async def _free(session: Session, group: list[ClaimedAction], done: Written) -> list[ClaimedAction]:
    """The rows that are not locked now."""
    try:
        [[found]] = await session.rows(FREE_ROWS, {"uuids": Uuids.of([action.uuid for action in group])})
    except psycopg.Error:
        if session.lost:
            raise
        done.left += group  # a whole table is locked
        return []
    free = set(found)
    done.left += [action for action in group if action.uuid not in free]
    return [action for action in group if action.uuid in free]


async def _without_gone(session: Session, group: list[ClaimedAction], done: Written) -> list[ClaimedAction]:
    """The actions whose threads exist; those of the others were dropped."""
    try:
        [[found]] = await session.rows(FORGET_GONE, {"uuids": Uuids.of([action.uuid for action in group])})
    except psycopg.Error:
        if session.lost:
            raise
        return group
    gone = set(found)
    for action in group:
        if action.uuid in gone:
            log.error(
                "the action was dropped by retention: its outcome is lost", action_uuid=str(action.uuid)
            )
            done.gone.append(action)
    return [action for action in group if action.uuid not in gone]


async def _insert_as_failed(session: Session, action: ClaimedAction, error: Exception, done: Written) -> None:
    log.error("an outcome could not be written", action_uuid=str(action.uuid), error=str(error))
    before, action.decision = action.decision, unwritable(error)
    try:
        await _insert(session, [action])
    except Exception:
        if session.lost:
            raise
        log.exception("nor could the failure to write it", action_uuid=str(action.uuid))
        action.decision = before
        done.left.append(action)  # its lock stays: what cannot be recorded must not be done again
    else:
        done.written.append(action)


async def _insert(session: Session, group: Sequence[ClaimedAction]) -> None:
    events = [action.event for action in group]
    await session.rows(
        WRITE,
        {
            "uuids": Uuids.of([action.uuid for action in group]),
            "runs": Ints.of([action.run for action in group]),
            "attempts": Ints.of([action.attempt for action in group]),
            "statuses": Texts.of([event.status for event in events]),
            "errors": Texts.of([event.error for event in events]),
            "retries": Floats.of([event.retry_seconds for event in events]),
            "details": Texts.of([event.detail for event in events]),
        },
    )


class Writer:
    """The writer of one worker: counts written events, and knows whether the server accepts writes."""

    def __init__(
        self, session: Session, served: ServedName, row: Registration, clock: Callable[[], float]
    ) -> None:
        self._session = session
        self._served = served
        self._row = row
        self._clock = clock
        self._again_at = self._careful_until = 0.0
        self._refused = False
        self._backed_off = False

    async def write(self, actions: Sequence[ClaimedAction]) -> Written:
        """Write all decisions that can be written."""
        began = self._clock()
        done = await write(self._session, actions, careful=began < self._careful_until)
        if done.left:
            self._careful_until = self._clock() + CAREFUL_FOR
        self._note(done)
        ended = [action for action in done.written if action.decision is not RUNNING]
        for status, times in Counter(action.event.status for action in ended).items():
            self.count(status, times)
        if tracing.enabled():
            for action in ended:
                _trace(action, self._clock() - began)
        return done

    def count(self, status: str, times: int) -> None:
        """Count committed events of that status."""
        self._served.metrics.recorded(status, times)
        if status in BAD_ENDS:
            self._row.heartbeat.failed += times
        elif status == "BACKOFF":
            self._backed_off = True
        else:
            self._row.heartbeat.done += times

    def backed_off(self) -> bool:
        """Whether an action went into BACKOFF since the last call."""
        was, self._backed_off = self._backed_off, False
        return was

    def refused_for(self) -> float:
        """Seconds until the next try while the server accepts no writes; 0 if it does."""
        return max(0.0, self._again_at - self._clock())

    def try_now(self) -> None:
        """Allow a write now, also after a refusal: it is the last chance."""
        self._again_at = 0.0

    @property
    def refused(self) -> bool:
        """Note that the server accepts no writes now: nothing more is dispatched."""
        return self._refused

    def _note(self, done: Written) -> None:
        refused = done.refused is not None
        self._again_at = self._clock() + REFUSED_AGAIN if refused else 0.0
        if refused and not self._refused:
            log.error(
                "outcomes cannot be written: locks stay held, no new dispatch until a retry succeeds",
                action=self._served.name,
                waiting=len(done.left),
                error=done.refused,
            )
        elif self._refused and not refused:
            log.info("outcomes can be written again", action=self._served.name)
        self._refused = refused
        self._served.metrics.held_up.set(int(refused))


def _trace(action: ClaimedAction, seconds: float) -> None:
    work = action.work
    if work is not None:
        tracing.mark(
            "outcome",
            seconds=seconds,
            action_uuid=work.uuid,
            correlation_id=work.correlation_id,
            parent_uuid=work.parent_uuid,
            status=action.event.status,
        )
