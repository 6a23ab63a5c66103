"""Leader election: of the cabooses that observe the same source, one works and the others stand by.

The model. The leader holds an advisory lock on the very session that records its ends. The lock ends with
the session, so whoever has lost it cannot commit: a transaction on a new session finds that this session
does not lead, and rolls back. No clock is involved. What each failure does. The leader dies: the server
releases the lock with its connection, and a standby takes it at its next look. It is cut off: the server's
keepalives end the session. It hangs or is suspended: its heartbeat stops, and after `workers.lost_after` a
conductor or a caboose that stands by marks it lost and terminates its sessions; when it wakes up, its next
statement fails, and it stands by.
What is left. A request to the backend that was on its way when the process was suspended still arrives. It
is harmless: a delete names the uid that was seen, and what it deletes was archived and recorded.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, TypeVar

from caboose.queries import Queries
from switchyard.process.log import get_logger

T = TypeVar("T")
log = get_logger(__name__)

LOOK = 1.0


class Leader:
    """A candidate, on the session that it records with; without a name there is no election."""

    def __init__(self, queries: Queries, name: str | None = None) -> None:
        self._queries = queries
        self._name = name
        self._session: object | None = None
        self._taken = asyncio.Event()
        self._lost = asyncio.Event()  # a new one each time that it leads

    @property
    def leads(self) -> bool:
        """Whether the session that holds the lock is the one that records."""
        return self._name is None or (self._session is not None and self._session is self._queries.session)

    @property
    def look_in(self) -> float | None:
        """Seconds until `look` should be called again; None without an election."""
        return None if self._name is None else LOOK

    async def look(self) -> bool:
        """Take the lock if free, or check that the session still holds it; returns whether this one leads."""
        if self._name is None:
            return True
        try:
            if self.leads:
                await self._queries.round_trip()
                return True
        finally:
            if self._session is not None and not self.leads:
                self._lose()
        if await self._queries.try_lead(self._name):
            self._session = self._queries.session
            self._lost = asyncio.Event()
            self._taken.set()
            log.info("leads", source=self._name)
        return self.leads

    def _lose(self) -> None:
        self._session = None
        self._taken.clear()
        self._lost.set()
        log.warning("leads no more", source=self._name)

    async def while_leading(self, stream: Callable[[], AsyncIterator[T]]) -> AsyncIterator[T]:
        """Items of the stream while this one leads; each time that it leads again, a new stream is opened.

        Items dropped in between must be reported again, even if no other caboose led meanwhile.
        """
        if self._name is None:
            async for item in stream():
                yield item
            return
        while True:
            await self._taken.wait()
            watch = asyncio.create_task(self._lost.wait())
            try:
                async with contextlib.aclosing(_closable(stream())) as source:
                    async for item in _until(watch, source):
                        yield item
            finally:
                await _cancel(watch)


async def _closable(stream: AsyncIterator[T]) -> AsyncGenerator[T]:
    async for item in stream:
        yield item


async def _until(end: asyncio.Future[Any], source: AsyncGenerator[T]) -> AsyncIterator[T]:
    """Items of the source until the task is done, which may be while waiting for the next item."""
    while True:
        item = asyncio.ensure_future(anext(source))
        try:
            await asyncio.wait({item, end}, return_when=asyncio.FIRST_COMPLETED)
            if not item.done():
                return
            try:
                yield item.result()
            except StopAsyncIteration:
                return
        finally:
            await _cancel(item)


async def _cancel(task: asyncio.Future[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
