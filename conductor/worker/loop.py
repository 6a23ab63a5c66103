"""The loop of one worker on one session: what to do next, and how long to rest.

A turn writes decided actions, claims new ones for free slots, and rests until something is due. All
statements run one after the other on the session; the dispatches run concurrently. What happens to an action
is in `dispatch/pipeline.py`; when to look for work is in `wakeup.py`. The worker's claims end
with the session.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from conductor.dispatch.batch import BatchPipeline
from conductor.dispatch.pipeline import Pipeline
from conductor.limits.served_name import ServedName
from conductor.registry import Registration
from conductor.resting import Rester, Resting
from conductor.session.session import ROUND_TRIP_EVERY, Session
from conductor.worker.connections import Turn
from conductor.worker.wakeup import Bell, Wakeup
from switchyard.config.daemons import Conductor
from switchyard.process.log import get_logger

log = get_logger(__name__)

ORPHANS_AT_ONCE = 100


@dataclass(slots=True)
class NotBefore:
    """When the next tokens, and the next look for orphans, are due."""

    tokens: float
    orphans: float


@dataclass(slots=True)
class Stop:
    """A requested stop: when the grace period ends, and whether the remaining actions were released."""

    by: float
    released: bool = False


class WorkerLoop:
    """Serves one action name on one session until it is stopped."""

    def __init__(
        self,
        session: Session,
        served: ServedName,
        row: Registration,
        slots: int,
        settings: Conductor,
        *,
        once: bool = False,
        turn: Turn | None = None,
        resting: Resting | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._served = served
        self._row = row
        self._slots = slots
        self._settings = settings
        self._once = once
        self._clock = clock
        made = BatchPipeline if served.batch_handler is not None else Pipeline
        self._pipeline = made(session, served, row, slots, self._wake, clock)
        bell = Bell(clock, listen_wait=settings.listen_wait, poll=settings.poll)
        self.wakeup = Wakeup(session, served.name, bell, self._pipeline)
        self._not_before = NotBefore(tokens=-settings.poll, orphans=-settings.poll)
        self._turn = turn  # with a connection that others may need
        self._resting = resting
        self._stop: Stop | None = None

    def stop(self, grace: float) -> None:
        """Claim nothing more; finish what is in flight within the grace, release the rest."""
        if self._stop is None:
            self._stop = Stop(self._clock() + grace)
            self._pipeline.stop()
        self.wakeup.wake()

    async def run(self) -> None:
        """Run until stopped or, when it runs once, until there is no more work."""
        locks = self._served.metrics.locks
        await self.wakeup.listen()
        while not self._over():
            await self._one_turn()
            locks.set(len(self._pipeline.table))

    async def abandon(self) -> None:
        """The session is gone, and with it everything that it held."""
        self._rouse()
        await self._pipeline.abandon()
        self._served.metrics.locks.set(0)

    async def _one_turn(self) -> None:
        self.wakeup.clear()
        bell = self.wakeup.bell
        if self._pipeline.fast.pending:
            bell.answered(await self._pipeline.claim_named())
        if self._stop is not None and self._clock() >= self._stop.by and not self._stop.released:
            await self._pipeline.release()
            self._stop.released = True
        await self._settle()
        await self._beat()
        await self._fail_orphans()
        looks = bell.wait() <= 0 or self._pipeline.freed
        if self._may_claim() and looks and self._clock() >= self._not_before.tokens:
            await self._claim()
            await self._beat()
        elif self._pipeline.freed and self._stop is None:
            await self._report_freed()
        if not self._once and self._stop is None:
            await self.wakeup.arm_or_disarm()
        await self._rest()

    def _over(self) -> bool:
        if self._pipeline.fast.pending:
            return False
        if len(self._pipeline.table):
            return (
                self._stop is not None and self._stop.released
            )  # nobody waits for what could not be written
        drained = self.wakeup.bell.drained and not self._pipeline.freed
        return self._stop is not None or (self._once and drained) or self._yields()

    def _yields(self) -> bool:
        """Whether to give up the connection: another worker waits, and this one is idle or had it long."""
        turn, bell = self._turn, self.wakeup.bell
        return turn is not None and turn.wanted and (turn.over or (bell.drained and bell.still))

    def _room(self) -> int:
        """How many actions may be claimed; one that only waits for another transaction's lock takes no slot.

        At most as many as slots, though, because the locks of all workers share one table in the server.
        """
        table = self._pipeline.table
        taken = len(table) - min(table.blocked, self._slots)
        return min(self._settings.batch, self._served.slots(self._slots) - taken)

    def _may_claim(self) -> bool:
        if self._stop is not None or (self._turn is not None and self._turn.over):
            return False
        return self._pipeline.may_start and self._room() > 0

    async def _beat(self) -> None:
        """Send the heartbeat if it is due; while the worker rests, the pulse does."""
        heartbeat = self._row.heartbeat
        if heartbeat.rests and (len(self._pipeline.table) or heartbeat.unreported or self._stop is not None):
            self._rouse()
        if heartbeat.due_in() > 0:
            return
        if self._resting is None or not self._may_rest():
            await self._row.beat()
            return
        await self._row.beat(self._resting.seconds)
        self.wakeup.bell.relieved = True
        served = self._served
        rester = Rester(served.name, served.action.answers_itself, self._called, self._row.sever)
        self._resting.workers[heartbeat.worker] = rester

    def _may_rest(self) -> bool:
        """Whether to rest: nothing is held, nothing was done lately, and new work sends a notification."""
        busy = len(self._pipeline.table) or self._pipeline.fast.pending or self._row.heartbeat.unreported
        return self.wakeup.bell.asleep and not (busy or self._once or self._stop is not None)

    def _rouse(self) -> None:
        """End the rest: send regular heartbeats again."""
        heartbeat, bell = self._row.heartbeat, self.wakeup.bell
        if self._resting is not None:
            self._resting.workers.pop(heartbeat.worker, None)
        heartbeat.rests = 0.0
        bell.relieved = False

    def _called(self) -> None:
        """Wake up because the pulse found work."""
        self._rouse()
        self._not_before.orphans = self._clock()
        self.wakeup.bell.ring()
        self.wakeup.wake()

    async def _claim(self) -> None:
        """Claim and start as many actions as there are free slots and tokens."""
        wanted, wait = await self._served.take(self._session, self._room())
        if wanted == 0:
            self._not_before.tokens = self._clock() + wait
            return
        bell = self.wakeup.bell
        bell.looking()
        look = await self._pipeline.claim(wanted)
        bell.looked(look)
        self._ring_for_backoffs()
        await self._served.put_back(self._session, wanted - look.claimed)
        if look.claimed and bell.more and self._room() <= 0:
            await self.wakeup.ring_peers()

    async def _report_freed(self) -> None:
        """Notify other workers of freed capacity that this worker has no slots or tokens to use."""
        await self._pipeline.claim(0)
        await self.wakeup.ring_peers()

    async def _settle(self) -> None:
        await self._pipeline.settle()
        self._ring_for_backoffs()

    def _ring_for_backoffs(self) -> None:
        """Look again after own backoffs: the holder of the bell's lock is not notified of its own events."""
        if self._pipeline.writer.backed_off():
            self.wakeup.bell.ring()

    async def _fail_orphans(self) -> None:
        wanted = self._served.action.answers_itself and not self.wakeup.bell.relieved
        if not wanted or self._clock() < self._not_before.orphans or not self._may_claim():
            return
        self._not_before.orphans = self._clock() + self._settings.poll
        found = await self._pipeline.fail_orphans(min(self._room(), ORPHANS_AT_ONCE))
        if found:
            log.error("found actions whose conductor died", action=self._served.name, count=found)
            self._not_before.orphans = self._clock()

    async def _rest(self) -> None:
        """Sleep until a notification, an outcome, or the time when something is due."""
        if self._over():
            return
        now = self._clock()
        waits = [self._row.heartbeat.due_in(), ROUND_TRIP_EVERY]
        if len(self._pipeline.table):
            waits.append(self._session.quiet_until() - now)
        settle_in = self._pipeline.settle_in()
        if settle_in is not None:
            waits.append(settle_in)
        if self._stop is not None:
            if not self._stop.released:
                waits.append(self._stop.by - now)
        elif self._pipeline.freed:
            waits.append(0.0)
        elif self._may_claim():
            waits.append(max(self.wakeup.bell.wait(), self._not_before.tokens - now))
        seconds = min(waits)
        if seconds > 0:
            await self.wakeup.rest(seconds, idle=self._may_claim_alone())

    def _may_claim_alone(self) -> bool:
        """Whether a notified action may be claimed alone: no other work is known, no tokens are needed."""
        still = self.wakeup.bell.still
        plain = self._served.tokens is None and not self._served.flows
        return not self._once and plain and still and self._may_claim()

    def _wake(self) -> None:
        self.wakeup.wake()
