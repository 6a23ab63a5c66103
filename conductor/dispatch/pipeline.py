"""The path of an action on one session, from taking its lock to writing its event.

    claim -> run -> store -> decide -> write -> unlock

Claims and writes are statements of the worker's turn, many actions in each; in between, every action runs
in its own task, with no transaction open. An outcome is written and committed before its lock is released.
When the session ends, everything in the table is dropped: its locks are gone, and other workers claim it.
"""

import asyncio
import time
from collections.abc import Callable, Sequence

from conductor.action import ClaimedAction, Decision, State
from conductor.claim.claim import Look, claim_described, claim_orphans, discount, together, unlock
from conductor.claim.fast_path import FastClaim
from conductor.claim.in_parts import claim_in_parts
from conductor.dispatch.group_commit import GroupCommit
from conductor.dispatch.handler_call import HandlerCall, traced_claim
from conductor.dispatch.inflight import InFlight
from conductor.limits.flows import Flow
from conductor.limits.served_name import ServedName
from conductor.outcomes.decide import decide
from conductor.outcomes.write import RUNNING, Writer, running_now
from conductor.registry import Registration
from conductor.session.arrays import Uuids
from conductor.session.session import Session
from switchyard.handlers import Draft, Outcome
from switchyard.process.log import bind, get_logger

log = get_logger(__name__)

LINGER = 0.005  # how long an outcome waits for others to be written with
BLOCKED_AGAIN = 0.5  # seconds until a write that another transaction's lock blocks is tried again
CANCEL_WITHIN = 2.0  # how long a cancelled dispatch may take to notice
ORPHANED = "its conductor died while it was being dispatched: it may have been done (at_most_once)"
STOPPED = "its conductor stopped before it had an answer: it may have been done (at_most_once)"


class Pipeline:
    """The dispatches of one worker on one session."""

    def __init__(
        self,
        session: Session,
        served: ServedName,
        row: Registration,
        slots: int,
        ended: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._served = served
        self._ended = ended  # called when an outcome waits to be written
        self._clock = clock
        self.table = InFlight(clock)
        self.fast = FastClaim(session, served)
        self.writer = Writer(session, served, row, clock)
        self._call = HandlerCall(served.handler, served.action.timeout)
        self._group_commit = GroupCommit(self._call.store, self._stored)
        self._enough = 1 if self._call.drafts else max(1, slots // 4)  # outcomes that need not wait for more
        self._blocked_at = 0.0
        self._stopping = False
        self.freed = False  # slots of a flow came free, and no claim has reported it yet

    @property
    def may_start(self) -> bool:
        """Whether outcomes can be recorded: the server accepts writes, as far as is known."""
        return not self.writer.refused or (len(self.table) == 0 and self.writer.refused_for() <= 0)

    # -- claim ---------------------------------------------------------------------------------------------

    async def claim(self, wanted: int) -> Look:
        """Lock and start up to `wanted` actions that are due."""
        began = self._clock()
        actions, look = await self._claimed(self._served.claim_size.wanted(wanted))
        await discount(self._session, actions, self._served.action.retry.attempts)
        self.table.add(actions)
        await self._start(actions, self._clock() - began)
        return look

    async def _claimed(self, wanted: int) -> tuple[list[ClaimedAction], Look]:
        if not self._served.flows:
            return await self._claimed_of(wanted, None)
        actions: list[ClaimedAction] = []
        looks: list[Look] = []
        self.freed = False
        for flow in self._served.flows.in_turn():
            found, look = await self._claimed_of(wanted - len(actions), flow)
            actions += found
            looks.append(look)
        return actions, together(wanted, looks)

    async def _claimed_of(self, wanted: int, flow: Flow | None) -> tuple[list[ClaimedAction], Look]:
        session, served, held = self._session, self._served, Uuids.of(self.table.uuids)
        size, attempts = served.claim_size, served.action.retry.attempts
        if size.in_parts:
            return await claim_in_parts(session, served.name, wanted, held, attempts, size, flow)
        try:
            return await claim_described(session, served.name, wanted, held, attempts, flow)
        except Exception:
            size.failed(wanted)  # whatever it was, the next session takes fewer, and reads them in parts
            raise

    async def claim_named(self) -> Look:
        """The same for the one action that a notification named.

        The task that awaits the claim also runs the dispatch, without a turn of the event loop in between.
        """
        if self._served.at_most_once:
            action, look = await self._named()
            if action is not None:
                self.table.add([action])
                await self._start([action], self.fast.seconds)
            return look
        claimed: asyncio.Future[Look] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._claim_and_dispatch(claimed))
        try:
            return await claimed
        except BaseException:
            task.cancel()  # nobody may claim for a worker that has stopped
            raise

    async def _named(self) -> tuple[ClaimedAction | None, Look]:
        try:
            action, look = await self.fast.answer()
        except Exception:
            self._served.claim_size.failed(1)
            raise
        if action is not None:
            await discount(self._session, [action], self._served.action.retry.attempts)
        return action, look

    async def fail_orphans(self, wanted: int) -> int:
        """Fail the at-most-once actions that a dead conductor was dispatching: they are never sent again."""
        held = Uuids.of(self.table.uuids)
        found = await claim_orphans(self._session, self._served.name, wanted, held)
        self.table.add(found)
        for action in found:
            self.table.decide(action, Decision("FAILED", ORPHANED))
        return len(found)

    # -- run -----------------------------------------------------------------------------------------------

    async def _start(self, actions: Sequence[ClaimedAction], seconds: float) -> None:
        self._count_claims(actions, seconds)
        started = [action for action in actions if action.state is State.CLAIMED]
        if self._served.at_most_once:
            for action in started:
                action.decision = RUNNING
            await self._write(started)
        else:
            self.run(started)
        if started:
            await asyncio.sleep(0)  # the handlers come first, then what is left of the turn

    def run(self, actions: Sequence[ClaimedAction]) -> None:
        """Start the dispatches of actions that are in the table already."""
        for action in actions:
            action.state, action.decision = State.RUNNING, None
            action.task = asyncio.create_task(self._dispatch(action))

    async def _claim_and_dispatch(self, claimed: "asyncio.Future[Look]") -> None:
        try:
            action, look = await self._named()
        except Exception as error:  # noqa: BLE001 - it is for the worker, which waits for it
            if not claimed.cancelled():
                claimed.set_exception(error)
            return
        if claimed.cancelled():
            return  # the worker has stopped, and its session ends with it
        if action is not None:
            self.table.add([action])
            self._count_claims([action], self.fast.seconds)
        claimed.set_result(look)
        if action is not None and action.state is State.CLAIMED:
            action.state, action.task = State.RUNNING, asyncio.current_task()
            await self._dispatch(action)

    async def _dispatch(self, action: ClaimedAction) -> None:
        """The task of one action: run it, store what its outcome needs, decide."""
        work = action.work
        assert work is not None, "only what was described is dispatched"
        began = time.perf_counter()
        bind(correlation_id=work.correlation_id, action_uuid=work.uuid)
        outcome = await self._call.run(work)
        if action.state is not State.RUNNING:
            return  # given up meanwhile: another session may have it now
        action.task = None
        self._served.was_busy(time.perf_counter() - began)
        if isinstance(outcome, Draft):
            action.state, action.draft = State.DRAFTED, outcome
            self._group_commit.add(action)
        else:
            self._decide(action, outcome)
            self._ended()

    # -- store ---------------------------------------------------------------------------------------------

    def _stored(self, actions: Sequence[ClaimedAction]) -> None:
        for action in actions:
            if action.state is State.DRAFTED and action.draft is not None:
                self._decide(action, action.draft.outcome)
        self._ended()

    # -- decide --------------------------------------------------------------------------------------------

    def _decide(self, action: ClaimedAction, outcome: Outcome, *, observed: bool = False) -> None:
        served = self._served
        if not observed:
            served.observe(outcome, action.lane)
        once, policy = served.at_most_once, served.action.retry
        decision = decide(outcome, action.attempt, policy, at_most_once=once, refused=action.refused)
        self.table.decide(action, decision)

    # -- write, unlock -------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Write decided actions once there are enough or they waited long enough; then release the locks."""
        if self.writer.refused_for() > 0:
            return
        fresh = self.table.decided > 0 and self._linger() <= 0
        blocked = self.table.blocked > 0 and self._clock() >= self._blocked_at
        if fresh or blocked:
            await self._write(self.table.take(decided=fresh, blocked=blocked))

    async def _write(self, actions: Sequence[ClaimedAction]) -> None:
        """Write events; for at-most-once actions also RUNNING, which is committed before anything is sent."""
        if self._stopping:
            await self._unlock([action for action in actions if action.decision is RUNNING], unfinished=True)
            actions = [action for action in actions if action.decision is not RUNNING]
        if not actions:
            return
        done = await self.writer.write(actions)
        if done.left:
            self.table.block(done.left)
            self._blocked_at = self._clock() + BLOCKED_AGAIN
        marked = [action for action in done.written if action.decision is RUNNING]
        await self._unlock([action for action in done.unlockable if action.decision is not RUNNING])
        if marked:
            running, stale = await running_now(self._session, marked)
            self.run(running)
            await self._unlock(stale)

    def settle_in(self) -> float | None:
        """Seconds until the next write is due; None if there is nothing to write."""
        waits: list[float] = []
        if self.table.decided:
            waits.append(self._linger())
        if self.table.blocked:
            waits.append(self._blocked_at - self._clock())
        return max(min(waits), self.writer.refused_for()) if waits else None

    def _linger(self) -> float:
        if self.table.undecided == 0 or self.table.decided >= self._enough:
            return 0.0
        return self.table.first_decided_at + LINGER - self._clock()

    async def _unlock(self, actions: Sequence[ClaimedAction], *, unfinished: bool = False) -> None:
        if actions:
            await unlock(self._session, [action.lock for action in actions], unfinished=unfinished)
            self.table.remove(actions)
            self.freed = bool(self._served.flows)

    # -- the end -------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Start no more dispatches."""
        self._stopping = True

    async def release(self) -> None:
        """Release actions without an outcome when the grace period is over; they use no attempt."""
        left = await self._cancel()
        if self._served.at_most_once:
            for action in left:
                self.table.decide(action, Decision("FAILED", STOPPED))
        else:
            await self._unlock(left, unfinished=True)
        if left:
            log.warning("dispatches were cut short by the stop", action=self._served.name, count=len(left))
        self._blocked_at = 0.0
        self.writer.try_now()

    async def abandon(self) -> None:
        """Cancel every dispatch and drop every outcome, after the session was lost."""
        dropped = len(self.table)
        await self._cancel()
        self.table.clear()
        served = self._served
        if dropped:
            served.metrics.abandoned.inc(dropped)
            log.warning("dispatches were abandoned with their session", action=served.name, count=dropped)

    async def _cancel(self) -> list[ClaimedAction]:
        """Cancel all dispatches; returns those without an outcome. Later reports are dropped."""
        running = [action for action in self.table if action.state is State.RUNNING]
        tasks = [action.task for action in running if action.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            _, deaf = await asyncio.wait(tasks, timeout=CANCEL_WITHIN)
            if deaf:
                log.error("dispatches do not stop when they are cancelled", count=len(deaf))
        self._stored(await self._group_commit.cancel())
        left = [action for action in running if action.state is State.RUNNING]
        for action in left:
            action.state = State.CLAIMED
        return left

    def _count_claims(self, actions: Sequence[ClaimedAction], seconds: float) -> None:
        self._served.metrics.claims.inc(len(actions))
        traced_claim(actions, seconds)
