"""Handlers that process a whole claim at once: one statement claims, one writes, one unlocks.

What this path cannot handle (different outcomes, a retry, a row that fails the statement, at most once)
becomes records in the in-flight table and is written like everything else.
"""

from collections.abc import Sequence

import psycopg

from conductor.action import LAST_ATTEMPT, ClaimedAction, State
from conductor.claim.claim import TOO_MANY_ATTEMPTS, ClaimedBatch, Look, claim, together, unlock
from conductor.dispatch.pipeline import Pipeline
from conductor.limits.flows import Flow
from conductor.outcomes.decide import decide
from conductor.outcomes.write import write_batch
from conductor.session.arrays import Ints, Uuids
from switchyard.handlers import Batch, Outcome, Retry
from switchyard.process.log import get_logger

log = get_logger(__name__)


class BatchPipeline(Pipeline):
    """The pipeline for batches."""

    async def claim(self, wanted: int) -> Look:
        """Claim, dispatch and write up to `wanted` actions; only their ids are read."""
        if not self._served.flows:
            return await self._claim_of(wanted, None)
        left, looks = wanted, []
        self.freed = False
        for flow in self._served.flows.in_turn():
            looks.append(await self._claim_of(left, flow))
            left -= looks[-1].claimed
        return together(wanted, looks)

    async def _claim_of(self, wanted: int, flow: Flow | None) -> Look:
        served, held = self._served, Uuids.of(self.table.uuids)
        batch, look = await claim(self._session, served.name, wanted, held, flow)
        if len(batch) and served.at_most_once:
            await self._as_records(batch)
        elif len(batch):
            served.metrics.claims.inc(len(batch))
            await self._as_columns(batch)
        return look

    async def claim_named(self) -> Look:
        """The same for a single action that a notification named."""
        action, look = await self._named()
        if action is not None:
            self.table.add([action])
            await self._start([action], self.fast.seconds)
        return look

    async def _as_records(self, batch: ClaimedBatch) -> None:
        actions = batch.actions()
        for action in actions:
            if action.attempt >= LAST_ATTEMPT:
                action.state, action.decision = State.DECIDED, TOO_MANY_ATTEMPTS
        self.table.add(actions)
        await self._start(actions, 0.0)

    async def _as_columns(self, batch: ClaimedBatch) -> None:
        outcome = self._answer(Batch(self._served.name, batch.uuids, batch.runs, batch.attempts))
        if isinstance(outcome, Sequence | Retry):
            self._decide_all(self._added(batch), outcome)
        elif not await self._written_as_columns(batch, outcome):
            self._decide_all(self._added(batch), outcome, observed=True)
        await self.settle()

    def _added(self, batch: ClaimedBatch) -> list[ClaimedAction]:
        actions = batch.actions()
        self.table.add(actions)
        return actions

    async def _written_as_columns(self, batch: ClaimedBatch, outcome: Outcome) -> bool:
        served = self._served
        served.observe(outcome)
        for lane in batch.lanes or ():
            served.flows.observe(lane, outcome)
        decision = decide(outcome, 1, served.action.retry, at_most_once=served.at_most_once)
        try:
            await write_batch(self._session, batch, decision)
        except psycopg.Error:
            if self._session.lost:
                raise
            return False
        self.writer.count(decision.status, len(batch))
        await unlock(self._session, batch.locks)
        self.freed = bool(self._served.flows)
        return True

    def run(self, actions: Sequence[ClaimedAction]) -> None:
        """Pass all of them to the handler at once."""
        if not actions:
            return
        uuids = Uuids.of([action.uuid for action in actions])
        runs = Ints.of([action.run for action in actions])
        dispatched = Ints.of([action.attempt - 1 for action in actions])
        self._decide_all(actions, self._answer(Batch(self._served.name, uuids, runs, dispatched)))

    def _answer(self, batch: Batch) -> Outcome | Sequence[Outcome]:
        handler = self._served.batch_handler
        assert handler is not None, "only a batch handler answers for many"
        try:
            outcome = handler.dispatch_all(batch)
        except Exception as error:
            log.exception("a batch dispatch raised", action=batch.action_name)
            return Retry(f"{type(error).__name__}: {error}")
        if isinstance(outcome, Sequence) and len(outcome) != len(batch):
            return Retry(f"the handler returned {len(outcome)} outcomes for {len(batch)} actions")
        return outcome

    def _decide_all(
        self,
        actions: Sequence[ClaimedAction],
        outcome: Outcome | Sequence[Outcome],
        *,
        observed: bool = False,
    ) -> None:
        each = outcome if isinstance(outcome, Sequence) else [outcome] * len(actions)
        for action, one in zip(actions, each, strict=True):
            self._decide(action, one, observed=observed)
        self._ended()
