"""A worker of one action name: runs one loop after the other, each on a new session.

A lost session ends the loop and all its claims. The worker then opens another session, closes its old
row, and claims again; nothing is carried over. A worker that is stopped before it has another session opens
one to close its row, so that it is not reported as lost.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import psycopg

from conductor.limits.served_name import ServedName
from conductor.registry import Identity, Registration, register
from conductor.resting import Resting
from conductor.session.open import open_session
from conductor.session.session import Session
from conductor.worker.connections import Connections, Lookout, Turn
from conductor.worker.loop import WorkerLoop
from switchyard.backoff import Backoff
from switchyard.config.daemons import Conductor, Workers
from switchyard.errors import ConfigError, SwitchyardError
from switchyard.ledger.errors import unavailable
from switchyard.process.log import get_logger

log = get_logger(__name__)

PAUSES = Backoff(base=0.1, longest=5.0)
CLOSE_WITHIN = 3.0  # how long a stopped worker without a session tries to reach the database
HEALTHY_AFTER = 10.0  # a session that lasted so long was no failure to start


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """What all workers of a process share."""

    url: str
    settings: Conductor
    workers: Workers
    identity: Identity
    once: bool = False
    connections: Connections = field(default_factory=lambda: Connections(sys.maxsize))
    lookout: Lookout | None = None
    resting: Resting | None = None
    announce: Callable[[str], Awaitable[None]] | None = None


class Worker:
    """Runs one loop after the other until stopped."""

    def __init__(self, served: ServedName, context: WorkerContext) -> None:
        self._served = served
        self._context = context
        self._loop: WorkerLoop | None = None
        self._rows: list[Registration] = []  # that no session has closed yet
        self._stopped = asyncio.Event()
        self.serving = False

    def stop(self) -> None:
        """Stop claiming; `run` returns when the dispatches in flight or the grace period have ended."""
        self._stopped.set()
        if self._loop is not None:
            self._loop.stop(self._context.settings.grace)

    async def run(self) -> None:
        """Work until stopped or, when it runs once, until there is no work left."""
        try:
            await self._work_on()
        finally:
            if self._rows:
                await self._close_row()

    async def _work_on(self) -> None:
        failures = 0
        while not self._stopped.is_set():
            if not await self._context.connections.take_unless(self._stopped):
                return
            began = asyncio.get_running_loop().time()
            try:
                await self._work_connected()
            except ConfigError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever ended the loop, the next one starts clean
                lasted = asyncio.get_running_loop().time() - began
                failures = 1 if lasted > HEALTHY_AFTER else failures + 1
                await self._recover(error, PAUSES.pause(failures))
            else:
                if self._stopped.is_set() or self._context.once:
                    return
                await self._park()

    async def _work_connected(self) -> None:
        try:
            await self._work()
        finally:
            self._context.connections.give_back()

    async def _park(self) -> None:
        """Wait without a connection; the row stays open, and the lookout sends its heartbeat."""
        lookout = self._context.lookout
        assert lookout is not None, "where connections are shared there is a lookout"
        self.serving = True
        served = self._served
        beats = self._rows[-1].heartbeat.worker
        await lookout.wait(served.name, beats, served.action.answers_itself, self._stopped)

    async def _work(self) -> None:
        context, served = self._context, self._served
        with unavailable():  # without our schema, or without a role: waiting does not help
            if context.announce is not None:
                await context.announce(served.name)
        session = await open_session(context.url, served.name)
        loop = None
        try:
            with unavailable():
                registration, slots = await register(
                    session, served, self._wanted(), identity=context.identity, workers=context.workers
                )
            self._rows.append(registration)
            await self._close_rows(session, but=registration)
            loop = self._loop = WorkerLoop(
                session,
                served,
                registration,
                slots,
                context.settings,
                once=context.once,
                turn=Turn(context.connections),
                resting=context.resting,
            )
            if self._stopped.is_set():
                loop.stop(context.settings.grace)
            self.serving = True
            await loop.run()
            if self._stopped.is_set() or context.once:
                await self._close_rows(session)
        finally:
            self.serving, self._loop = False, None
            if loop is not None:
                await loop.abandon()
            await session.close()

    def _wanted(self) -> int:
        """The number of slots; for a batch handler, the size of the batch that it settles at once."""
        if self._served.batch_handler is not None:
            return self._context.settings.batch
        return self._served.action.concurrency

    async def _close_rows(self, session: Session, but: Registration | None = None) -> None:
        for registration in [row for row in self._rows if row is not but]:
            await registration.end(through=session)
            self._rows.remove(registration)

    async def _close_row(self) -> None:
        await self._context.connections.take()
        try:
            async with asyncio.timeout(CLOSE_WITHIN):
                session = await open_session(self._context.url, self._served.name)
                try:
                    await self._close_rows(session)
                finally:
                    await session.close()
        except (SwitchyardError, psycopg.Error, TimeoutError) as error:
            why = " ".join(str(error).split()) or f"no answer within {CLOSE_WITHIN:g} s"
            log.warning(
                "could not close the worker's row: others will mark it lost",
                action=self._served.name,
                error=why,
            )
        finally:
            self._context.connections.give_back()

    async def _recover(self, error: Exception, pause: float) -> None:
        expected = isinstance(error, SwitchyardError)
        log.warning(
            "database session lost; its claims were released; reconnecting",
            action=self._served.name,
            error=" ".join(str(error).split()),
            again_in=round(pause, 3),
            exc_info=None if expected else error,
        )
        self._served.metrics.reconnects.inc()
        try:
            async with asyncio.timeout(pause):
                await self._stopped.wait()
        except TimeoutError:
            return
