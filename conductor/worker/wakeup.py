"""When a worker looks for work: immediately when quiet, in batches when busy.

The model. Writers ring (NOTIFY) only if a worker sleeps: the trigger tries the bell's advisory lock,
shared, and rings where it does not get it. A worker arms the bell by taking that lock exclusively. It only
ever tries: if it waited, one open submit transaction would keep it from being notified.

- Armed: whatever commits after the arming rings, and every ring is followed by a look in a new statement. So
  an armed worker may sleep until the bell, the earliest due time, or the poll. It stays armed while traffic
  is light: an action that comes alone is found by one statement. One that rests (resting.py) leaves the
  poll to the pulse.
- A bell that names its action, received while nothing else is due, is answered by a claim of that one action.
- Not armed, because writers are in flight or a peer is armed: nap, look, try again. A writer is done in a
  moment, so the first nap is short; each is twice as long as the one before, up to half a second, until
  something is found.
- Busy, with more than a handful found in the last tenth of a second: bells would cost the writers more than
  looks cost us, so disarm and look every `listen_wait`.
- A look that saw threads which others hold naps too: a peer that dies rings no bell.
- What is due and was not made ready is locked by an open transaction: look for it every `listen_wait`.

NOTIFY is latency, never correctness: were every bell lost, the naps and the poll would find the work.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from conductor.claim.claim import Look
from conductor.claim.fast_path import named
from conductor.dispatch.pipeline import Pipeline
from conductor.session.session import Session
from switchyard.ledger.queries import query

NAME_BELL = query("conductor", "name_bell")
LISTEN = query("conductor", "listen")
ARM = query("conductor", "arm")
DISARM = query("conductor", "disarm")
RING = query("conductor", "ring")

RING_EVERY = 1.0
REHEARSE_EVERY = 600.0  # while the worker holds nothing; what it holds needs a round trip every second
NAP = 0.5
QUIET = 0.1  # how far back a worker remembers what it found
BUSY = 8  # more than this within QUIET is busy


NOTHING = Look(wanted=0, claimed=0, skipped=False, due_in=None)


class Bell:
    """Tracks notifications and looks for work, and decides when the next look is due."""

    def __init__(self, clock: Callable[[], float], *, listen_wait: float, poll: float) -> None:
        self._clock = clock
        self._listen_wait = listen_wait
        self._poll = poll
        self._found: deque[tuple[float, int]] = deque()
        self._looked_at = -poll
        self._last = NOTHING
        self._rung = True  # what was there before the first look is unknown
        self._refused = False  # the bell could not be armed since the last look
        self._refusals = 0  # in a row, with nothing found in between
        self.armed = False
        self.relieved = False  # the pulse looks for what no bell announces

    def ring(self) -> None:
        """Note that there may be work."""
        self._rung = True

    def looking(self) -> None:
        """A look starts; a notification from here on requires another one."""
        self._rung = self._refused = False
        self._looked_at = self._clock()

    def looked(self, look: Look) -> None:
        """A look ended."""
        self._last = look
        if look.claimed:
            self._found.append((self._clock(), look.claimed))
            self._refusals = 0

    def answered(self, look: Look) -> None:
        """A notified action was claimed alone; for all others the last look is still valid."""
        if look.claimed:
            self._found.append((self._clock(), look.claimed))
        if look.skipped:
            self._last = replace(self._last, skipped=True)

    @property
    def still(self) -> bool:
        """Whether no work is known, so that a notification names all there is."""
        return not (self._rung or self.more or self.busy)

    @property
    def drained(self) -> bool:
        """Whether the last look found less than it wanted, so that no more work is due."""
        return self._last is not NOTHING and not (self.more or self._last.held_back)

    @property
    def more(self) -> bool:
        """Whether the last look got all it wanted, so that more work may be due."""
        return self._last.wanted > 0 and self._last.claimed >= self._last.wanted

    @property
    def busy(self) -> bool:
        """Whether polling is cheaper than notifications, because much was found lately."""
        past = self._clock() - QUIET
        while self._found and self._found[0][0] < past:
            self._found.popleft()
        return sum(count for _, count in self._found) > BUSY

    @property
    def asleep(self) -> bool:
        """Whether the bell is armed and no work can be claimed soon."""
        return self.armed and self.still and self.drained and not self._last.skipped

    def wants_arming(self) -> bool:
        """Whether to arm the bell: no work is known and it is quiet."""
        return self.still and not (self.armed or self._refused)

    def arm(self, *, got: bool) -> None:
        """Note the result of trying the bell's lock. If it was granted, look again for earlier commits."""
        self.armed, self._refused = got, not got
        self._refusals = 0 if got else self._refusals + 1
        if got:
            self._rung = True

    def wants_disarming(self) -> bool:
        """Whether to disarm: while busy, every writer would pay for a notification that is not needed."""
        return self.armed and self.busy

    def wait(self) -> float:
        """Seconds until the next look; 0 is now."""
        if self.more:
            return 0.0
        since = self._clock() - self._looked_at
        if self._rung:
            return max(0.0, self._listen_wait - since) if self.busy else 0.0
        return max(0.0, self._longest() - since)

    def _longest(self) -> float:
        longest = math.inf if self.relieved else self._poll
        if not self.armed:
            longest = self._listen_wait if self.busy else self._nap()
        elif self._last.skipped:
            longest = NAP
        due_in = self._last.due_in
        if due_in is None:
            return longest
        return min(longest, due_in if due_in >= 0 else self._listen_wait)

    def _nap(self) -> float:
        return min(NAP, self._listen_wait * 2.0 ** min(self._refusals, 20))


class Wakeup:
    """The bell of one worker's session: listens, arms it, and sleeps until a notification."""

    def __init__(self, session: Session, name: str, bell: Bell, pipeline: Pipeline) -> None:
        self._session = session
        self._name = name
        self._pipeline = pipeline
        self._event = asyncio.Event()
        self._idle = False  # asleep with nothing else to do: a bell that names its action is answered at once
        self._rang_at = -RING_EVERY
        self._rehearsed = asyncio.get_running_loop().time()
        self.bell = bell
        session.on_bell = self.heard

    @property
    def idle(self) -> bool:
        """Whether the worker sleeps and no other work is known."""
        return self._idle

    async def listen(self) -> None:
        """Start listening; called before the first turn."""
        await self._session.rows(NAME_BELL, {"name": self._name})
        await self._session.rows(LISTEN)
        await self._pipeline.fast.prepare()

    def heard(self, payload: bytes = b"") -> None:
        """Note that there may be work."""
        uuid = named(payload) if self._idle else None
        self._idle = False
        if uuid is None or uuid in self._pipeline.table:
            self.bell.ring()
        else:
            self._pipeline.fast.send(uuid)
        self._event.set()

    def wake(self) -> None:
        """Wake the worker for something other than claims."""
        self._idle = False
        self._event.set()

    def clear(self) -> None:
        """A turn begins; a wake-up from here on requires another one."""
        self._event.clear()

    async def arm_or_disarm(self) -> None:
        """Have writers send notifications while it is quiet, and not while it is busy."""
        if self.bell.wants_disarming():
            await self._session.rows(DISARM, {"name": self._name})
            self.bell.armed = False
        elif self.bell.wants_arming():
            [[got]] = await self._session.rows(ARM, {"name": self._name})
            self.bell.arm(got=got)

    async def ring_peers(self) -> None:
        """Notify other workers: there is more work than this one can take."""
        if time.monotonic() - self._rang_at >= RING_EVERY:
            self._rang_at = time.monotonic()
            await self._session.rows(RING, {"name": self._name})

    async def rest(self, seconds: float, *, idle: bool) -> None:
        """Sleep until a notification, a `wake`, or the timeout."""
        self._idle = idle
        try:
            await self._session.wait(self._event, seconds)
        finally:
            self._idle = False
        fast, now = self._pipeline.fast, asyncio.get_running_loop().time()
        due = self._session.quiet_until() if len(self._pipeline.table) else self._rehearsed + REHEARSE_EVERY
        if not fast.pending and now >= due:
            self._rehearsed = now
            await fast.rehearse()
