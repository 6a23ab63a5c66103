"""Taking actions: their locks, what they are, and giving the locks back.

After any error here the session may hold locks that nobody knows of, so it is severed.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from conductor.bell import Look
from conductor.columns import BigInts, Ints, Uuids
from conductor.handler import Work
from conductor.session import Session
from switchyard.ledger.queries import query

CLAIM = query("conductor", "claim")
CLAIM_ORPHANS = query("conductor", "claim_orphans")
DESCRIBE = query("conductor", "describe")
UNLOCK = query("conductor", "unlock")


@dataclass(frozen=True, slots=True)
class Claim:
    """Actions whose locks this session holds, as columns."""

    uuids: Uuids
    runs: Ints
    attempts: Ints  # dispatches before this one
    locks: BigInts

    def __len__(self) -> int:
        return len(self.uuids)


async def claim(session: Session, name: str, wanted: int, held: Uuids) -> tuple[Claim, Look]:
    """Lock up to `wanted` processable actions, passing over those this session holds already."""
    async with _or_sever(session, "claim"):
        rows = await session.rows(CLAIM, {"name": name, "wanted": wanted, "held": held})
    uuids, runs, attempts, locks, skipped, due_in = rows[0]
    look = Look(wanted, len(uuids), bool(skipped), due_in)
    return Claim(uuids, runs, attempts, locks), look


async def claim_orphans(session: Session, name: str, wanted: int, held: Uuids) -> Claim:
    """Lock what is RUNNING while nobody runs it."""
    async with _or_sever(session, "claim of orphans"):
        rows = await session.rows(CLAIM_ORPHANS, {"name": name, "wanted": wanted, "held": held})
    return Claim(*rows[0])


async def describe(session: Session, name: str, claimed: Claim, attempts: int) -> list[Work]:
    """What a handler needs to know of each; `attempts` are what the policy allows."""
    async with _or_sever(session, "description of a claim"):
        rows = await session.rows(DESCRIBE, {"uuids": claimed.uuids})
    numbers = zip(claimed.runs.values(), claimed.attempts.values(), rows, strict=True)
    return [
        Work(
            uuid=row[0],
            run=run,
            attempt=before + 1,
            last_attempt=before + 1 >= attempts,
            action_name=name,
            workflow=row[1],
            callback=row[2],
            parent_uuid=row[3],
            parameters=row[4],
            correlation_id=row[5],
            created_at=row[6],
        )
        for run, before, row in numbers
    ]


async def unlock(session: Session, locks: BigInts | Sequence[int]) -> None:
    """Give locks back; every one of them must have been ours."""
    column = locks if isinstance(locks, BigInts) else BigInts.of(locks)
    async with _or_sever(session, "unlock"):
        [[freed]] = await session.rows(UNLOCK, {"locks": column})
        if freed != len(column):
            raise AssertionError(f"{len(column) - freed} locks were not held")


@asynccontextmanager
async def _or_sever(session: Session, step: str) -> AsyncIterator[None]:
    try:
        yield
    except BaseException as error:
        session.sever(f"an error in the {step}: {type(error).__name__}")
        raise
