"""Shared connections, for processes with more workers than connections.

Every worker keeps its connection while no other worker needs one. When one does, the first worker that has
nothing to do gives up its connection, and one that has been busy for a while finishes its dispatches in
flight and does the same. A worker without a connection is parked: the lookout, with one connection for all
parked workers, checks twice a second which parked names have work, and sends their heartbeats; for
at-most-once names it also looks for actions that a dead conductor left. A parked worker that is woken waits
in line for a connection. So 300 action names work on a server with 100 connections: a quiet name is served
within about two seconds, and names that are busy take turns.

With as many connections as workers, which is usual, no worker is ever parked.
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
    """A fixed number of connections for all workers of the process, given out in the order of requests."""

    def __init__(self, most: int) -> None:
        self._most = self._free = most
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def wanted(self) -> bool:
        """Whether a worker waits for a connection."""
        return bool(self._waiting)

    async def take(self) -> None:
        """Take a connection as soon as one is free."""
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
        """The same; False if the event is set first."""
        taking, stopping = asyncio.create_task(self.take()), asyncio.create_task(stopped.wait())
        try:
            await asyncio.wait({taking, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            if not taking.done():
                taking.cancel()
        return not (await asyncio.gather(taking, return_exceptions=True))[0]

    def give_back(self) -> None:
        """Return a connection; the next worker in line gets it."""
        self._free += 1
        self._hand_out()

    def resize(self, most: int) -> None:
        """Change the number of connections; those in use beyond it are not taken away."""
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
    """A worker's use of a connection, until it gives it back."""

    connections: Connections
    since: float = field(default_factory=time.monotonic)

    @property
    def wanted(self) -> bool:
        """Whether another worker waits for this connection."""
        return self.connections.wanted

    @property
    def over(self) -> bool:
        """Whether another worker waits, and this one has had the connection for long enough."""
        return self.wanted and time.monotonic() - self.since > SLICE


@dataclass(slots=True, eq=False)
class Parked:
    """A worker without a connection."""

    name: str
    worker: UUID
    orphans: bool  # it also looks for what a dead conductor left RUNNING
    due: asyncio.Event = field(default_factory=asyncio.Event)


class Lookout:
    """Looks for work for all parked workers, on one session that is open only while there are any."""

    def __init__(self, url: str, beat: float) -> None:
        self._url = url
        self._beat = beat
        self._beaten = 0.0
        self._parked: set[Parked] = set()
        self._task: asyncio.Task[None] | None = None

    async def wait(self, name: str, worker: UUID, orphans: bool, stopped: asyncio.Event) -> None:
        """Wait until that name has work, or the event is set."""
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
        """Wake the parked workers whose names the query returns."""
        if asked:
            [[found]] = await session.rows(which, {"names": sorted({one.name for one in asked})})
            for one in asked:
                if one.name in found:
                    one.due.set()
