"""The turns of one worker on one session: what is done next, and how long to rest.

A turn writes what was decided, claims what there is room for, and rests until something is due. All
statements run one after the other on the session; the dispatches run beside them. What happens to an action
on the way is `dispatch/pipeline.py`; when to look for work is `wakeup.py`. Whatever the worker holds ends
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
    """A stop that was asked for: when the grace ends, and whether what was left then was released."""

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
        """Until it is stopped, or has found nothing more to do where it runs once."""
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
        """Another worker needs the connection, and this one has nothing to do, or had it for long enough."""
        turn, bell = self._turn, self.wakeup.bell
        return turn is not None and turn.wanted and (turn.over or (bell.drained and bell.still))

    def _room(self) -> int:
        """How many may be claimed: a dispatch that only waits for somebody else's lock takes no slot.

        No more such dispatches than slots, though: the locks of all workers share one table in the server.
        """
        table = self._pipeline.table
        taken = len(table) - min(table.blocked, self._slots)
        return min(self._settings.batch, self._served.slots(self._slots) - taken)

    def _may_claim(self) -> bool:
        if self._stop is not None or (self._turn is not None and self._turn.over):
            return False
        return self._pipeline.may_start and self._room() > 0

    async def _beat(self) -> None:
        """Regularly; while there is nothing to do, the pulse does it."""
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
        """Nothing is held, nothing was done lately, and a bell rings for whatever comes."""
        busy = len(self._pipeline.table) or self._pipeline.fast.pending or self._row.heartbeat.unreported
        return self.wakeup.bell.asleep and not (busy or self._once or self._stop is not None)

    def _rouse(self) -> None:
        """Beat regularly again."""
        heartbeat, bell = self._row.heartbeat, self.wakeup.bell
        if self._resting is not None:
            self._resting.workers.pop(heartbeat.worker, None)
        heartbeat.rests = 0.0
        bell.relieved = False

    def _called(self) -> None:
        """The pulse found work."""
        self._rouse()
        self._not_before.orphans = self._clock()
        self.wakeup.bell.ring()
        self.wakeup.wake()

    async def _claim(self) -> None:
        """Take what there is room and tokens for, and start it."""
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
        """Others may use what came free, though this worker has no room or no tokens for it."""
        await self._pipeline.claim(0)
        await self.wakeup.ring_peers()

    async def _settle(self) -> None:
        await self._pipeline.settle()
        self._ring_for_backoffs()

    def _ring_for_backoffs(self) -> None:
        """The bell's lock does not keep its own holder out, so our own backoffs do not ring for us."""
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
        """Sleep until the first of: a bell, an outcome, and all that is due at a time."""
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
            await self.wakeup.rest(seconds, idle=self._nothing_to_weigh())

    def _nothing_to_weigh(self) -> bool:
        """What a bell names may be claimed by itself: no other work is known of, and no tokens are needed."""
        still = self.wakeup.bell.still
        plain = self._served.tokens is None and not self._served.flows
        return not self._once and plain and still and self._may_claim()

    def _wake(self) -> None:
        self.wakeup.wake()
