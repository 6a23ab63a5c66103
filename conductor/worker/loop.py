"""One worker on one session: claims, dispatches, settles, rests. Whatever it holds dies with the session.

A turn writes what has landed, takes what there is room for, and rests until something is due. All statements
run one after the other on the session; dispatches run beside them, with no transaction open. So:

- locks held = dispatches in flight + outcomes not yet written, at every moment between two statements;
- what is claimed starts at once, and a slot that comes free is filled at the next turn;
- an outcome is written, committed, and only then is its lock given back.
"""

import asyncio
import time
from collections.abc import Callable, Sequence

from conductor.claim.claim import Claim, claim, claim_described, claim_orphans, unlock
from conductor.claim.fast_path import FastClaim, named
from conductor.dispatch.flights import Flights
from conductor.limits.served_name import ServedName
from conductor.outcomes.decide import Decision
from conductor.outcomes.outbox import Outbox
from conductor.outcomes.write import Row, rows_of
from conductor.registry import Registration
from conductor.session.arrays import Uuids
from conductor.session.session import ROUND_TRIP_EVERY, Session
from conductor.worker.wakeup import Bell
from switchyard.config.conductor import Conductor
from switchyard.handlers import Work
from switchyard.ledger.queries import query
from switchyard.process import tracing
from switchyard.process.log import get_logger

log = get_logger(__name__)

NAME_BELL = query("conductor", "name_bell")
LISTEN = query("conductor", "listen")
ARM = query("conductor", "arm")
DISARM = query("conductor", "disarm")
RING = query("conductor", "ring")

LINGER = 0.005  # how long an outcome waits for others to be written with
RING_EVERY = 1.0
ORPHANS_AT_ONCE = 100
ORPHANED = "its conductor died while it was being dispatched: it may have been done (at_most_once)"
STOPPED = "its conductor stopped before it had an answer: it may have been done (at_most_once)"


class WorkerLoop:
    """Serves one action name on one session until told to stop."""

    def __init__(
        self,
        session: Session,
        served: ServedName,
        registration: Registration,
        slots: int,
        settings: Conductor,
        *,
        once: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._served = served
        self._registration = registration
        self._slots = slots
        self._batch = settings.batch
        self._once = once
        self._clock = clock
        self._wake = asyncio.Event()
        self._poll = min(settings.poll, settings.backoff_polling_interval)
        self._bell = Bell(clock, listen_wait=settings.listen_wait, poll=self._poll)
        self._flights = Flights(served.handler, served.action.timeout, self._wake.set)
        self._outbox = Outbox(session, served, registration, clock)
        self._locks = served.metrics.locks.labels(served.name)
        self._claims = served.metrics.claims.labels(served.name)
        self._fast = FastClaim(session, served)
        self._open = False  # to a bell that names its action
        self._tokens_at = self._rang_at = self._orphans_at = -self._poll
        self._stop_by: float | None = None
        self._drained = self._released = False
        session.on_bell = self.ring

    def ring(self, said: bytes = b"") -> None:
        """Something may be there."""
        uuid = named(said) if self._open else None
        self._open = False
        if uuid is None or self._flights.holds(uuid) or self._outbox.holds(uuid):
            self._bell.ring()
        else:
            self._fast.send(uuid)
        self._wake.set()

    def stop(self, grace: float) -> None:
        """Claim nothing more; finish what is in flight within the grace, release the rest."""
        if self._stop_by is None:
            self._stop_by = self._clock() + grace
        self._open = False
        self._wake.set()

    @property
    def held(self) -> int:
        """Locks that this shift holds for actions."""
        return len(self._flights) + self._outbox.waiting

    async def run(self) -> None:
        """Until it is stopped, or has found nothing more to do where it runs once."""
        await self._session.rows(NAME_BELL, {"name": self._served.name})
        await self._session.rows(LISTEN)
        await self._fast.prepare()
        while not self._over():
            self._wake.clear()
            await self._turn()
            self._locks.set(self.held)

    async def abandon(self) -> None:
        """The session is gone: stop every dispatch and drop every outcome."""
        dropped = self._outbox.drop() + await self._flights.abandon()
        self._locks.set(0)
        if dropped:
            self._served.metrics.abandoned.labels(self._served.name).inc(dropped)
            log.warning(
                "dispatches were abandoned with their session", action=self._served.name, count=dropped
            )

    async def _turn(self) -> None:
        if self._fast.pending:
            await self._look_at_one()
        if self._stop_by is not None and self._clock() >= self._stop_by:
            await self._release()
        await self._settle()
        if self._clock() >= self._orphans_at and self._served.action.answers_itself and self._may_claim():
            await self._bury_orphans()
        if self._may_claim() and self._bell.wait() <= 0 and self._clock() >= self._tokens_at:
            await self._look()
        if self._registration.due_in() <= 0:
            await self._registration.beat()
        await self._arm_or_disarm()
        await self._rest()

    def _over(self) -> bool:
        if self._fast.pending:
            return False
        if self.held:
            return self._released  # what could not be written by then, nobody waits for
        return self._stop_by is not None or (self._once and self._drained)

    def _room(self) -> int:
        return min(self._batch, self._served.slots(self._slots) - self.held)

    def _may_claim(self) -> bool:
        return self._stop_by is None and not self._outbox.refused and self._room() > 0

    def _nothing_to_weigh(self) -> bool:
        """What a bell names may be claimed by itself: no other work is known of, and no tokens are needed."""
        return not self._once and self._served.bucket is None and self._bell.still and self._may_claim()

    async def _look_at_one(self) -> None:
        """Start what a bell named, if it is there."""
        if self._served.batch_handler is None and not self._served.at_most_once:
            found = await self._flights.start_claimed(self._fast.answer())
            if found.work is not None:
                self._started([found.work], found.seconds)
        else:
            found = await self._fast.answer()
            if found.work is not None:
                await self._dispatch(found.claim(), [found.work], found.seconds)
        self._bell.answered(found.look)

    async def _look(self) -> None:
        """Take what there is room and tokens for, and start it."""
        wanted, wait = await self._served.take(self._session, self._room())
        if wanted == 0:
            self._tokens_at = self._clock() + wait
            return
        claimed, works, seconds = await self._claim(wanted)
        await self._served.put_back(self._session, wanted - len(claimed))
        if len(claimed):
            await self._dispatch(claimed, works, seconds)
            await self._ring_peers()

    async def _claim(self, wanted: int) -> tuple[Claim, list[Work], float]:
        """What a batch handler gets is not described: it asks for nothing but ids."""
        self._bell.looking()
        began = self._clock()
        held = Uuids.of(self._flights.held() + self._outbox.held())
        session, name, works = self._session, self._served.name, list[Work]()
        if self._served.batch_handler is not None:
            claimed, look = await claim(session, name, wanted, held)
        else:
            attempts = self._served.action.retry.attempts
            claimed, look, works = await claim_described(session, name, wanted, held, attempts)
        self._bell.looked(look)
        self._drained = not self._bell.more
        return claimed, works, self._clock() - began

    async def _dispatch(self, claimed: Claim, works: Sequence[Work], seconds: float) -> None:
        if self._served.batch_handler is not None:
            await self._outbox.batch(self._served.batch_handler, claimed)
            self._claims.inc(len(claimed))
            if self._outbox.backed_off():
                self._bell.ring()
            return
        if self._served.at_most_once:
            await self._outbox.running(claimed)
        for work, lock in zip(works, claimed.locks.values(), strict=True):
            self._flights.start(work, lock)
        self._started(works, seconds)
        await asyncio.sleep(0)  # the handlers come first, then what is left of the turn

    def _started(self, works: Sequence[Work], seconds: float) -> None:
        self._claims.inc(len(works))
        for work in works if tracing.enabled() else ():
            tracing.mark(
                "claim",
                seconds=seconds,
                action_uuid=work.uuid,
                correlation_id=work.correlation_id,
                parent_uuid=work.parent_uuid,
            )

    async def _ring_peers(self) -> None:
        """More than we can take: somebody else may have room."""
        full = self._bell.more and self._room() <= 0
        if full and self._clock() - self._rang_at >= RING_EVERY:
            self._rang_at = self._clock()
            await self._session.rows(RING, {"name": self._served.name})

    async def _settle(self) -> None:
        """Write what has landed, once enough has, or it has waited long enough, or nothing else flies."""
        if self._flights.waiting and self._linger() <= 0:
            self._outbox.add(self._flights.collect())
        await self._outbox.flush()
        if self._outbox.backed_off():
            # The bell's lock does not keep its own holder out, so our own backoffs do not ring for us.
            self._bell.ring()

    def _linger(self) -> float:
        enough = 1 if self._flights.in_groups else max(1, self._slots // 4)
        if self._flights.airborne == 0 or self._flights.waiting >= enough:
            return 0.0
        return self._flights.first_landed_at + LINGER - self._clock()

    async def _arm_or_disarm(self) -> None:
        if self._once or self._stop_by is not None:
            return
        if self._bell.wants_disarming():
            await self._session.rows(DISARM, {"name": self._served.name})
            self._bell.armed = False
        elif self._bell.wants_arming():
            [[got]] = await self._session.rows(ARM, {"name": self._served.name})
            self._bell.arm(got=got)

    async def _bury_orphans(self) -> None:
        """What a dead conductor was dispatching is never sent again: a person decides."""
        self._orphans_at = self._clock() + self._poll
        held = Uuids.of(self._flights.held() + self._outbox.held())
        wanted = min(self._room(), ORPHANS_AT_ONCE)
        found = await claim_orphans(self._session, self._served.name, wanted, held)
        if len(found):
            log.error("found actions whose conductor died", action=self._served.name, count=len(found))
            self._outbox.add_rows(rows_of(found, Decision("FAILED", ORPHANED), ahead=0))
            self._orphans_at = self._clock()

    async def _release(self) -> None:
        """The grace is over: what is still in flight is left to others, and spends no attempt."""
        left = await self._flights.cancel()
        if self._served.at_most_once:
            decision = Decision("FAILED", STOPPED)
            self._outbox.add_rows([Row(w.uuid, w.run, w.attempt, lock, decision) for w, lock in left])
        elif left:
            await unlock(self._session, [lock for _, lock in left])
        if left:
            log.warning("dispatches were cut short by the stop", action=self._served.name, count=len(left))
        self._outbox.give_up()
        self._released = True

    async def _rest(self) -> None:
        """Sleep until the first of: a bell, an outcome, and all that is due at a time."""
        if self._over():
            return
        now = self._clock()
        waits = [self._session.quiet_until() - now, self._registration.due_in()]
        if self._flights.waiting:
            waits.append(self._linger())
        if self._outbox.waiting:
            waits.append(self._outbox.again_at - now)
        if self._stop_by is not None:
            waits.append(self._stop_by - now)
        elif self._may_claim():
            waits.append(max(self._bell.wait(), self._tokens_at - now))
        seconds = min(waits)
        if seconds > 0:
            self._open = self._nothing_to_weigh()
            try:
                await self._session.wait(self._wake, min(seconds, ROUND_TRIP_EVERY))
            finally:
                self._open = False
            if not self._fast.pending and self._clock() >= self._session.quiet_until():
                await self._fast.rehearse()
