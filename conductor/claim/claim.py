"""Taking actions: their locks, what they are, and giving the locks back.

After any error here the session may hold locks that nobody knows of, so it is severed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from conductor.session.arrays import BigInts, Ints, Uuids
from conductor.session.session import Session
from conductor.worker.wakeup import Look
from switchyard.handlers import Work
from switchyard.ledger.queries import query

CLAIM = query("conductor", "claim")
CLAIM_DESCRIBED = query("conductor", "claim_described")
CLAIM_ORPHANS = query("conductor", "claim_orphans")
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
    with or_sever(session, "claim"):
        [row] = await session.rows(CLAIM, {"name": name, "wanted": wanted, "held": held})
    return _taken(row, wanted)


async def claim_described(
    session: Session, name: str, wanted: int, held: Uuids, attempts: int
) -> tuple[Claim, Look, list[Work]]:
    """The same, with what a handler needs to know of each; `attempts` are what the policy allows."""
    with or_sever(session, "claim"):
        [row] = await session.rows(CLAIM_DESCRIBED, {"name": name, "wanted": wanted, "held": held})
    claimed, look = _taken(row, wanted)
    return claimed, look, _works(name, claimed, row[6:], attempts) if len(claimed) else []


async def claim_orphans(session: Session, name: str, wanted: int, held: Uuids) -> Claim:
    """Lock what is RUNNING while nobody runs it."""
    with or_sever(session, "claim of orphans"):
        rows = await session.rows(CLAIM_ORPHANS, {"name": name, "wanted": wanted, "held": held})
    return Claim(*rows[0])


async def unlock(session: Session, locks: BigInts | Sequence[int]) -> None:
    """Give locks back; every one of them must have been ours."""
    column = locks if isinstance(locks, BigInts) else BigInts.of(locks)
    with or_sever(session, "unlock"):
        [[freed]] = await session.rows(UNLOCK, {"locks": column})
        if freed != len(column):
            raise AssertionError(f"{len(column) - freed} locks were not held")


def _taken(row: Sequence[Any], wanted: int) -> tuple[Claim, Look]:
    uuids, runs, attempts, locks, skipped, due_in = row[:6]
    return Claim(uuids, runs, attempts, locks), Look(wanted, len(uuids), bool(skipped), due_in)


def _works(name: str, claimed: Claim, columns: Sequence[Any], attempts: int) -> list[Work]:
    """In the order of the claim; the columns have an order of their own."""
    uuids, *more = columns
    described = dict(zip(uuids.as_sent(), zip(*more, strict=True), strict=True))
    descriptions = [described[key] for key in claimed.uuids.as_sent()]
    numbers = zip(claimed.uuids, claimed.runs.values(), claimed.attempts.values(), descriptions, strict=True)
    return [work_of(name, uuid, run, before, told, attempts) for uuid, run, before, told in numbers]


def work_of(name: str, uuid: UUID, run: int, before: int, description: Sequence[Any], attempts: int) -> Work:
    """What a handler is told, `before` being the dispatches so far."""
    workflow, callback, parent, parameters, correlation, created = description
    return Work(
        uuid=uuid,
        run=run,
        attempt=before + 1,
        last_attempt=before + 1 >= attempts,
        action_name=name,
        workflow=workflow,
        callback=callback,
        parent_uuid=UUID(parent) if parent else None,
        parameters=parameters,
        correlation_id=correlation,
        created_at=created,
    )


class or_sever:  # noqa: N801 - reads as what it does
    """Whatever goes wrong inside, the session goes with it."""

    __slots__ = ("_session", "_step")

    def __init__(self, session: Session, step: str) -> None:
        self._session = session
        self._step = step

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._session.sever(f"an error in the {self._step}: {kind.__name__}")
