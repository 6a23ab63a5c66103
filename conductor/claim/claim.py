"""Claims: lock due actions, read their descriptions, and release the locks.

After any error here the session may hold unknown locks, so it is closed. Problems of a single row
(parameters that Python cannot read, a missing description) are not such errors: that row is
returned as already decided (INVALID), and the others start.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, LiteralString
from uuid import UUID

from conductor.action import LAST_ATTEMPT, ClaimedAction, Decision, State
from conductor.limits.flows import Flow
from conductor.session import jsonb
from conductor.session.arrays import BigInts, Ints, Uuids
from conductor.session.session import Session
from switchyard.handlers import Work
from switchyard.ledger.queries import query

CLAIM = query("conductor", "claim")
CLAIM_DESCRIBED = query("conductor", "claim_described")
LANE_CLAIM = query("conductor", "lane_claim")
LANE_CLAIM_DESCRIBED = query("conductor", "lane_claim_described")
CLAIM_ORPHANS = query("conductor", "claim_orphans")
UNLOCK = query("conductor", "unlock")
RELEASE = query("conductor", "release")
REFUSALS = query("conductor", "refusals")

NOT_DESCRIBED = Decision("INVALID", "its row in the action table is missing")
TOO_MANY_ATTEMPTS = Decision("INVALID", f"its attempt number is beyond {LAST_ATTEMPT:,}")


@dataclass(frozen=True, slots=True)
class Look:
    """What one claim learned about the queue."""

    wanted: int
    claimed: int
    skipped: bool  # others hold something that is due
    due_in: float | None  # seconds until the earliest that is not due yet
    held_back: bool = False  # a rate holds back what is ready


def together(wanted: int, looks: Sequence[Look]) -> Look:
    """The combined result of claims from several flows."""
    due = [look.due_in for look in looks if look.due_in is not None]
    return Look(
        wanted,
        sum(look.claimed for look in looks),
        any(look.skipped for look in looks),
        min(due, default=None),
        any(look.held_back for look in looks),
    )


@dataclass(frozen=True, slots=True)
class ClaimedBatch:
    """Claimed actions as columns, for handlers that process a whole batch at once.

    No object is created per action: the arrays are passed to the outcome statement as the received bytes,
    which is the main reason why draining a queue is fast. Everywhere else an action is a `ClaimedAction`.
    """

    uuids: Uuids
    runs: Ints
    attempts: Ints  # dispatches before this one
    locks: BigInts
    lanes: Sequence[str] | None = None  # of a flow

    def __len__(self) -> int:
        return len(self.uuids)

    def part(self, start: int, end: int) -> "ClaimedBatch":
        """The actions from `start` up to `end`."""
        return ClaimedBatch(
            Uuids.of(self.uuids[start:end]),
            Ints.of(self.runs[start:end]),
            Ints.of(self.attempts[start:end]),
            BigInts.of(self.locks[start:end]),
            self.lanes[start:end] if self.lanes else None,
        )

    def actions(self, *, ahead: int = 1) -> list[ClaimedAction]:
        """One record per action, with its attempt number increased by `ahead`."""
        rows = zip(self.uuids, self.runs.values(), self.attempts.values(), self.locks.values(), strict=True)
        actions = [
            ClaimedAction(uuid, run, min(before + ahead, LAST_ATTEMPT), lock)
            for uuid, run, before, lock in rows
        ]
        return self.in_lanes(actions)

    def in_lanes(self, actions: list[ClaimedAction]) -> list[ClaimedAction]:
        """One record per action, in the batch's order, each with its lane."""
        for action, lane in zip(actions, self.lanes or (), strict=False):
            action.lane = lane
        return actions


async def claim(
    session: Session, name: str, wanted: int, held: Uuids, flow: Flow | None = None
) -> tuple[ClaimedBatch, Look]:
    """Lock up to `wanted` processable actions, skipping those that this session already holds."""
    with or_sever(session, "claim"):
        row = await _row(session, _statement(CLAIM, LANE_CLAIM, name, wanted, held, flow), flow)
        return _taken(row, wanted)


async def claim_described(
    session: Session, name: str, wanted: int, held: Uuids, attempts: int, flow: Flow | None = None
) -> tuple[list[ClaimedAction], Look]:
    """The same, with the data that a handler needs; `attempts` is the policy's maximum."""
    with or_sever(session, "claim"):
        statement = _statement(CLAIM_DESCRIBED, LANE_CLAIM_DESCRIBED, name, wanted, held, flow)
        row = await _row(session, statement, flow)
        batch, look = _taken(row, wanted)
        return described(name, batch, row[8:], attempts) if len(batch) else [], look


Statement = tuple[LiteralString, dict[str, Any]]


async def _row(session: Session, statement: Statement, flow: Flow | None) -> Sequence[Any]:
    """The row that the claim returns; a claim that gave up has not recorded any breaker steps."""
    asked, values = statement
    row: Sequence[Any]
    [row] = await session.rows(asked, values)
    if flow is not None and row[7] is None:
        for lane, step in zip(values["slowed"], values["factors"], strict=True):
            flow.slow(lane, step)
    return row


def _statement(
    plain: LiteralString, by_lane: LiteralString, name: str, wanted: int, held: Uuids, flow: Flow | None
) -> Statement:
    values = {"wanted": wanted, "held": held}
    return (plain, {**values, "name": name}) if flow is None else (by_lane, {**values, **flow.values()})


async def claim_orphans(session: Session, name: str, wanted: int, held: Uuids) -> list[ClaimedAction]:
    """Lock actions that are RUNNING although no worker holds them."""
    with or_sever(session, "claim of orphans"):
        [row] = await session.rows(CLAIM_ORPHANS, {"name": name, "wanted": wanted, "held": held})
        return ClaimedBatch(*row).actions(ahead=0)


async def discount(session: Session, actions: Sequence[ClaimedAction], attempts: int) -> None:
    """Count the dispatches that were refused for lack of capacity, such as a quota: they use no attempt.

    They still are dispatches with numbered events. They are counted only if
    the number would make this dispatch the last one.
    """
    late = {action.uuid: action for action in actions if 1 < action.attempt >= attempts}
    if not late:
        return
    runs = [action.run for action in late.values()]
    with or_sever(session, "claim"):
        found = await session.rows(REFUSALS, {"uuids": Uuids.of(list(late)), "runs": Ints.of(runs)})
    for uuid, refused in found:
        action = late[uuid]
        action.refused = refused
        if action.work is not None:
            action.work = replace(action.work, last_attempt=action.attempt - refused >= attempts)


async def unlock(session: Session, locks: BigInts | Sequence[int], *, unfinished: bool = False) -> None:
    """Release locks; this session must have held all of them.

    A session remembers how far it has claimed, so actions that it did not finish must be released as
    unfinished.
    """
    column = locks if isinstance(locks, BigInts) else BigInts.of(locks)
    with or_sever(session, "unlock"):
        [[freed]] = await session.rows(RELEASE if unfinished else UNLOCK, {"locks": column})
        if freed != len(column):
            raise AssertionError(f"{len(column) - freed} locks were not held")


def _taken(row: Sequence[Any], wanted: int) -> tuple[ClaimedBatch, Look]:
    uuids, runs, attempts, locks, skipped, due_in, held_back, lanes = row[:8]
    look = Look(wanted, len(uuids), bool(skipped), due_in, bool(held_back))
    return ClaimedBatch(uuids, runs, attempts, locks, lanes), look


def described(name: str, batch: ClaimedBatch, columns: Sequence[Any], attempts: int) -> list[ClaimedAction]:
    """A batch as records, in its order; the description columns may be in another order."""
    uuids, *more, resumed = columns
    found = {} if uuids is None else dict(zip(uuids.as_sent(), zip(*more, strict=True), strict=True))
    again = () if resumed is None else frozenset(resumed.as_sent())
    descriptions = [
        None if (row := found.get(key)) is None else (*row, key in again) for key in batch.uuids.as_sent()
    ]
    numbers = batch.runs.values(), batch.attempts.values(), batch.locks.values()
    rows = zip(batch.uuids, *numbers, descriptions, strict=True)
    return batch.in_lanes([action_of(name, *row, attempts) for row in rows])


def action_of(
    name: str, uuid: UUID, run: int, before: int, lock: int, description: Sequence[Any] | None, attempts: int
) -> ClaimedAction:
    """The record of a claimed action; `before` is the number of dispatches so far."""
    action = ClaimedAction(uuid, run, before + 1, lock)
    if description is None:
        action.state, action.decision = State.DECIDED, NOT_DESCRIBED
    elif before >= LAST_ATTEMPT:
        action.attempt = LAST_ATTEMPT
        action.state, action.decision = State.DECIDED, TOO_MANY_ATTEMPTS
    else:
        try:
            action.work = _work(name, action, description, attempts)
        except Exception as error:  # noqa: BLE001 - whatever one row holds, the others are claimed all the same
            reason = f"its parameters cannot be read: {type(error).__name__}: {error}"
            action.state, action.decision = State.DECIDED, Decision("INVALID", reason)
    return action


def _work(name: str, action: ClaimedAction, description: Sequence[Any], attempts: int) -> Work:
    workflow, callback, parent, parameters, correlation, created, resumes = description
    return Work(
        uuid=action.uuid,
        run=action.run,
        attempt=action.attempt,
        last_attempt=action.attempt >= attempts,
        action_name=name,
        workflow=workflow,
        callback=callback,
        parent_uuid=UUID(parent) if parent else None,
        parameters=jsonb.decoded(parameters),
        correlation_id=correlation,
        created_at=created,
        resumes=bool(resumes),
    )


class or_sever:  # noqa: N801 - reads as what it does
    """Close the session on any error inside the block."""

    __slots__ = ("_session", "_step")

    def __init__(self, session: Session, step: str) -> None:
        self._session = session
        self._step = step

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._session.sever(f"an error in the {self._step}: {kind.__name__}")
