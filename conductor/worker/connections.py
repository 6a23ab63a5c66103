"""Connections that the workers of a process share, where there are more workers than connections.

Every worker keeps its connection while nobody else needs one. When somebody does, the first worker that has
nothing to do gives its connection up, and one that has been busy for a while finishes what it has in flight
and does the same. A worker without a connection is parked: the lookout, on one connection for all of them,
asks twice a second which parked names have something to do, and sends their heartbeats; with these it looks
for what a dead conductor left, where that matters (at most once). A parked worker that is woken waits in line
for a connection. So 300 action names work on a server with 100 connections: a quiet
name is served within about two seconds, and names that are busy take turns.

With as many connections as workers, which is the rule, nothing of this ever happens.
"""

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from typing import LiteralString
from uuid import UUID

import psycopg

from conductor.session.open import open_session
from conductor.session.session import Session
from switchyard.errors import SwitchyardError
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger

log = get_logger(__name__)

DUE_NAMES = query("conductor", "due_names")
BEAT_PARKED = query("conductor", "beat_parked")
LEFT_RUNNING = query("conductor", "left_running")

LOOK_EVERY = 0.5
SLICE = 5.0  # seconds that a busy worker keeps its connection while others wait for one
PARKED_AT_MOST = 300.0  # then it looks for itself


class Connections:
    """A fixed number for all workers of the process; those who wait are served in order."""

    def __init__(self, most: int) -> None:
        self._most = self._free = most
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def wanted(self) -> bool:
        """Somebody waits for one."""
        return bool(self._waiting)

    async def take(self) -> None:
        """One connection, as soon as there is one."""
        if self._free > 0 and not self._waiting:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give_back()
            elif turn in self._waiting:
                self._waiting.remove(turn)
            raise

    async def take_unless(self, stopped: asyncio.Event) -> bool:
        """The same; False where the event comes first."""
        taking, stopping = asyncio.create_task(self.take()), asyncio.create_task(stopped.wait())
        try:
            await asyncio.wait({taking, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            if not taking.done():
                taking.cancel()
        return not (await asyncio.gather(taking, return_exceptions=True))[0]

    def give_back(self) -> None:
        """For the next in line."""
        self._free += 1
        self._hand_out()

    def resize(self, most: int) -> None:
        """Another limit; what is in use beyond it is not taken away."""
        self._free += most - self._most
        self._most = most
        self._hand_out()

    def _hand_out(self) -> None:
        while self._free > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                self._free -= 1
                turn.set_result(None)


@dataclass(slots=True)
class Turn:
    """A worker's time with a connection."""

    connections: Connections
    since: float = field(default_factory=time.monotonic)

    @property
    def wanted(self) -> bool:
        """Somebody else waits for it."""
        return self.connections.wanted

    @property
    def over(self) -> bool:
        """Somebody else waits for it, and this worker has had it for long enough."""
        return self.wanted and time.monotonic() - self.since > SLICE


@dataclass(slots=True, eq=False)
class Parked:
    """A worker without a connection."""

    name: str
    worker: UUID
    orphans: bool  # it also looks for what a dead conductor left RUNNING
    due: asyncio.Event = field(default_factory=asyncio.Event)


class Lookout:
    """Looks for the work of all parked workers on one session, which is open only while there are any."""

    def __init__(self, url: str, beat: float) -> None:
        self._url = url
        self._beat = beat
        self._beaten = 0.0
        self._parked: set[Parked] = set()
        self._task: asyncio.Task[None] | None = None

    async def wait(self, name: str, worker: UUID, orphans: bool, stopped: asyncio.Event) -> None:
        """Until that name has something to do, or the event."""
        parked = Parked(name, worker, orphans)
        self._parked.add(parked)
        if self._task is None:
            self._task = asyncio.create_task(self._look_on())
        waits = {asyncio.create_task(parked.due.wait()), asyncio.create_task(stopped.wait())}
        try:
            await asyncio.wait(waits, timeout=PARKED_AT_MOST, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._parked.discard(parked)
            for wait in waits:
                wait.cancel()

    async def _look_on(self) -> None:
        try:
            while self._parked:
                try:
                    session = await open_session(self._url, "lookout")
                    try:
                        await self._look_through(session)
                    finally:
                        await session.close()
                except (SwitchyardError, psycopg.Error) as error:
                    log.warning(
                        "cannot look for the work of parked workers", error=" ".join(str(error).split())
                    )
                    await asyncio.sleep(LOOK_EVERY)
        finally:
            self._task = None

    async def _look_through(self, session: Session) -> None:
        while self._parked:
            await self._wake(session, DUE_NAMES, set(self._parked))
            if time.monotonic() - self._beaten >= self._beat:
                self._beaten = time.monotonic()
                await session.rows(BEAT_PARKED, {"workers": [one.worker for one in self._parked]})
                await self._wake(session, LEFT_RUNNING, {one for one in self._parked if one.orphans})
            await asyncio.sleep(LOOK_EVERY)

    async def _wake(self, session: Session, which: LiteralString, asked: set[Parked]) -> None:
        """Those of them whose names the query returns."""
        if asked:
            [[found]] = await session.rows(which, {"names": sorted({one.name for one in asked})})
            for one in asked:
                if one.name in found:
                    one.due.set()
