"""A shift's outcomes on their way into the ledger: their locks stay until they are committed."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

import psycopg

from conductor.claim.claim import Claim, unlock
from conductor.dispatch.landed import Landed
from conductor.limits.served_name import ServedName
from conductor.outcomes.decide import RUNNING
from conductor.outcomes.write import Row, rows_of, settle, settle_all
from conductor.registry import Registration
from conductor.session.session import Session
from switchyard.handlers import Batch, BatchHandler, Outcome, Retry, Work
from switchyard.process import tracing
from switchyard.process.log import get_logger

log = get_logger(__name__)

AGAIN_EVERY = 0.5
BAD_ENDS = frozenset({"FAILED", "INVALID", "RETRIES_EXHAUSTED"})


class Outbox:
    """Turns outcomes into events, keeps what cannot be written yet, unlocks what was."""

    def __init__(
        self, session: Session, served: ServedName, registration: Registration, clock: Callable[[], float]
    ) -> None:
        self._session = session
        self._served = served
        self._registration = registration
        self._clock = clock
        self._seconds = served.metrics.dispatch_seconds.labels(served.name)
        self._rows: list[Row] = []
        self._backed_off = False
        self._traced: dict[UUID, Work] = {}
        self.again_at = 0.0
        self.refused = False  # the server takes no writes now: dispatch nothing more

    @property
    def waiting(self) -> int:
        """Rows that are not written yet."""
        return len(self._rows)

    def held(self) -> list[UUID]:
        """The actions whose locks these rows keep."""
        return [row.uuid for row in self._rows]

    def holds(self, uuid: UUID) -> bool:
        """Whether these rows keep that action's lock."""
        return any(row.uuid == uuid for row in self._rows)

    def backed_off(self) -> bool:
        """Whether something went into BACKOFF since the last call."""
        was, self._backed_off = self._backed_off, False
        return was

    def add(self, landed: Sequence[Landed]) -> None:
        """Judge what dispatches came to."""
        for one in landed:
            work = one.work
            self._served.observe(one.outcome)
            self._seconds.observe(one.seconds)
            decision = self._served.judge.decision(one.outcome, work.attempt)
            self._rows.append(Row(work.uuid, work.run, work.attempt, one.lock, decision))
            if tracing.enabled():
                self._traced[work.uuid] = work

    def add_rows(self, rows: Sequence[Row]) -> None:
        """Rows that somebody else has judged."""
        self._rows += rows

    def drop(self) -> int:
        """Forget everything: its locks are gone."""
        dropped = len(self._rows)
        self._rows.clear()
        return dropped

    def give_up(self) -> None:
        """The last chance to write has come: try now, whatever was refused before."""
        self.again_at = 0.0

    async def flush(self) -> None:
        """Write what waits, and unlock what was written."""
        if not self._rows or self._clock() < self.again_at:
            return
        rows, self._rows = self._rows, []
        began = self._clock()
        try:
            done = await settle(self._session, rows)
        except BaseException:
            self._rows = rows
            raise
        self._rows = done.waiting
        self._note(done.refused)
        for status, times in Counter(row.decision.status for row in done.written).items():
            self._count(status, times)
        for row in done.written if self._traced else ():
            self._trace(row, self._clock() - began)
        if done.written:
            await unlock(self._session, [row.lock for row in done.written])

    async def running(self, claimed: Claim) -> None:
        """at_most_once: say RUNNING, and have it committed, before anything is sent."""
        await settle_all(self._session, claimed, RUNNING)

    async def batch(self, handler: BatchHandler, claimed: Claim) -> None:
        """Dispatch a whole claim at once, write it in one statement, unlock it in another."""
        if self._served.at_most_once:
            await self.running(claimed)
        outcome = _dispatched(handler, self._served.name, claimed)
        if not isinstance(outcome, Sequence) and not isinstance(outcome, Retry):
            await self._batch_of_one_kind(claimed, outcome)
            return
        each = outcome if isinstance(outcome, Sequence) else [outcome] * len(claimed)
        judge = self._served.judge
        for one in each:
            self._served.observe(one)
        blank = rows_of(claimed, RUNNING, ahead=1)
        self._rows += [
            replace(row, decision=judge.decision(one, row.attempt))
            for row, one in zip(blank, each, strict=True)
        ]
        await self.flush()

    async def _batch_of_one_kind(self, claimed: Claim, outcome: Outcome) -> None:
        self._served.observe(outcome)
        decision = self._served.judge.decision(outcome, 1)
        try:
            await settle_all(self._session, claimed, decision)
        except psycopg.Error:
            if self._session.lost:
                raise
            self._rows += rows_of(claimed, decision, ahead=1)
            await self.flush()
            return
        self._count(decision.status, len(claimed))
        await unlock(self._session, claimed.locks)

    def _trace(self, row: Row, seconds: float) -> None:
        work = self._traced.pop(row.uuid, None)
        if work is not None:
            tracing.mark(
                "outcome",
                seconds=seconds,
                action_uuid=work.uuid,
                correlation_id=work.correlation_id,
                parent_uuid=work.parent_uuid,
                status=row.decision.status,
            )

    def _count(self, status: str, times: int) -> None:
        self._served.metrics.dispatches.labels(self._served.name, status).inc(times)
        if status in BAD_ENDS:
            self._registration.failed += times
        elif status == "BACKOFF":
            self._backed_off = True
        else:
            self._registration.done += times

    def _note(self, refused: str | None) -> None:
        self.again_at = self._clock() + AGAIN_EVERY if self._rows else 0.0
        if refused and not self.refused:
            log.error(
                "outcomes cannot be written: keeping their locks, dispatching nothing more, trying again",
                action=self._served.name,
                waiting=len(self._rows),
                error=refused,
            )
        elif self.refused and not refused:
            log.info("outcomes can be written again", action=self._served.name)
        self.refused = refused is not None
        self._served.metrics.held_up.labels(self._served.name).set(int(self.refused))


def _dispatched(handler: BatchHandler, name: str, claimed: Claim) -> Outcome | Sequence[Outcome]:
    try:
        return handler.dispatch_all(Batch(name, claimed.uuids, claimed.runs, claimed.attempts))
    except Exception as error:
        log.exception("a batch dispatch raised", action=name)
        return Retry(f"{type(error).__name__}: {error}")
