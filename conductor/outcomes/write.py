"""Writing outcomes: many in one statement, each exactly once, through the session that holds their locks.

What each failure does to a group:
- it holds something that the ledger refuses (sqlstate 22, 23): halve it until the one row stands alone; that
  row is written as FAILED with a plain text. Where that is refused too, it keeps its lock and is tried again.
- a row lock or a time limit is in the way (40, 55, 57014): halve it too, so that one thread under somebody's
  open transaction holds up itself alone; what stays unwritten is tried again.
- the server takes no writes now (read-only, disk full, anything else): nothing was written, the locks stay,
  the worker dispatches nothing more until a write goes through.
- the session is lost: the outcomes are dropped; whoever claims next decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import psycopg

from conductor.claim.claim import Claim
from conductor.outcomes.decide import Decision, poison
from conductor.session.arrays import Floats, Ints, Texts, Uuids
from conductor.session.session import Session
from switchyard.ledger.errors import blames_row, is_blocked
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger

log = get_logger(__name__)

SETTLE = query("conductor", "settle")
SETTLE_ALL = query("conductor", "settle_all")


@dataclass(frozen=True, slots=True)
class Row:
    """One dispatch and what is to be written of it; its lock is ours until it is."""

    uuid: UUID
    run: int
    attempt: int
    lock: int
    decision: Decision


@dataclass(slots=True)
class Settled:
    """What became of a group."""

    written: list[Row] = field(default_factory=list)
    waiting: list[Row] = field(default_factory=list)  # locks stay, try again
    refused: str | None = None  # the server takes no writes now


def rows_of(claimed: Claim, decision: Decision, *, ahead: int) -> list[Row]:
    """The same verdict for each of a claim, `ahead` attempts after those it had."""
    numbers = zip(
        claimed.uuids, claimed.runs.values(), claimed.attempts.values(), claimed.locks.values(), strict=True
    )
    return [Row(uuid, run, attempt + ahead, lock, decision) for uuid, run, attempt, lock in numbers]


async def settle(session: Session, rows: Sequence[Row]) -> Settled:
    """Write them all, in as few statements as they allow."""
    done = Settled()
    pending = [list(rows)] if rows else []
    while pending:
        group = pending.pop()
        try:
            await _write(session, group)
        except psycopg.Error as error:
            if session.lost:
                raise
            if not (blames_row(error) or is_blocked(error)):
                done.refused = " ".join(str(error).split())
                done.waiting += [row for left in [group, *pending] for row in left]
                break
            await _split(session, group, error, pending, done)
        else:
            done.written += group
    return done


async def settle_all(session: Session, claimed: Claim, decision: Decision) -> None:
    """Write one verdict for a whole batch; errors are the caller's."""
    await session.rows(
        SETTLE_ALL,
        {
            "uuids": claimed.uuids,
            "runs": claimed.runs,
            "attempts": claimed.attempts,
            "status": decision.status,
            "error": decision.error,
            "retry_seconds": decision.retry_seconds,
            "detail": decision.detail,
        },
    )


async def _split(
    session: Session, group: list[Row], error: psycopg.Error, pending: list[list[Row]], done: Settled
) -> None:
    if len(group) > 1:
        middle = len(group) // 2
        pending += [group[middle:], group[:middle]]
    elif is_blocked(error):
        done.waiting += group
    else:
        await _write_poison(session, group[0], error, done)


async def _write_poison(session: Session, row: Row, error: psycopg.Error, done: Settled) -> None:
    log.error("an outcome could not be written", action_uuid=str(row.uuid), error=str(error))
    plain = replace(row, decision=poison(error))
    try:
        await _write(session, [plain])
    except psycopg.Error:
        done.waiting.append(row)  # its lock stays: what cannot be told must not be done again
    else:
        done.written.append(plain)


async def _write(session: Session, group: Sequence[Row]) -> None:
    decisions = [row.decision for row in group]
    await session.rows(
        SETTLE,
        {
            "uuids": Uuids.of([row.uuid for row in group]),
            "runs": Ints.of([row.run for row in group]),
            "attempts": Ints.of([row.attempt for row in group]),
            "statuses": Texts.of([decision.status for decision in decisions]),
            "errors": Texts.of([decision.error for decision in decisions]),
            "retries": Floats.of([decision.retry_seconds for decision in decisions]),
            "details": Texts.of([decision.detail for decision in decisions]),
        },
    )
