"""Claims after a failed one: ids first, then descriptions, in parts that grow while reading is quick.

A claim with all descriptions is one statement, so a single row can make it fail: an answer that takes
longer than the statement timeout, an array beyond the server's limit, a damaged page. A session whose claim
failed is closed, because it may hold unknown locks, and the next one would meet the same rows. So for a
while claims take fewer actions and read them in parts; the others start even if a single row cannot be read.
"""

import time
from dataclasses import replace

import psycopg

from conductor.action import ClaimedAction, Decision, State
from conductor.claim.claim import ClaimedBatch, Look, claim, described, unlock
from conductor.limits.claim_size import ClaimSize
from conductor.limits.flows import Flow
from conductor.session.arrays import Uuids
from conductor.session.session import Session
from switchyard.ledger.errors import blames_row
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger

log = get_logger(__name__)

DESCRIBE = query("conductor", "describe")

QUICK = 0.25  # seconds; the next part is twice as large
WITHIN = 2.0  # seconds for all parts of one claim; the rest is left to the next
AGAIN = 30.0  # seconds until a row that could not be read in time is tried again


async def claim_in_parts(
    session: Session,
    name: str,
    wanted: int,
    held: Uuids,
    attempts: int,
    size: ClaimSize,
    flow: Flow | None = None,
) -> tuple[list[ClaimedAction], Look]:
    """Like `claim_described`; actions that could not be read in time are released."""
    batch, look = await claim(session, name, wanted, held, flow)
    until = time.monotonic() + WITHIN
    actions: list[ClaimedAction] = []
    done, part = 0, 1
    while done < len(batch) and time.monotonic() < until:
        began = time.monotonic()
        found = await _read(session, name, batch.part(done, done + part), attempts)
        if found is None:
            part = max(1, part // 2)
            continue
        actions += found
        done += len(found)
        if time.monotonic() - began < QUICK:
            part *= 2
        else:
            size.still_slow()
    if done < len(batch):
        await unlock(session, batch.part(done, len(batch)).locks, unfinished=True)
    skipped = look.skipped or done < len(batch)
    return actions, replace(look, claimed=len(actions), skipped=skipped)


async def _read(session: Session, name: str, part: ClaimedBatch, attempts: int) -> list[ClaimedAction] | None:
    """The actions of one part; None if the part has to be smaller."""
    try:
        [row] = await session.rows(DESCRIBE, {"uuids": part.uuids, "runs": part.runs})
    except psycopg.Error as error:
        if session.lost:
            raise
        if len(part) > 1:
            return None
        return [_unreadable(part.actions()[0], error, attempts)]
    return described(name, part, row, attempts)


def _unreadable(action: ClaimedAction, error: psycopg.Error, attempts: int) -> ClaimedAction:
    reason = f"it cannot be read: {' '.join(str(error).split())}"
    log.error("a claimed action cannot be read", action_uuid=str(action.uuid), error=str(error))
    state = error.sqlstate or ""
    if blames_row(error) or state[:2] in ("53", "XX"):
        action.decision = Decision("INVALID", reason)
    elif action.attempt >= attempts:
        action.decision = Decision("RETRIES_EXHAUSTED", reason)
    else:
        action.decision = Decision("BACKOFF", reason, AGAIN)
    action.state = State.DECIDED
    return action
