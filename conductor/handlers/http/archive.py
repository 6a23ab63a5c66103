"""Transcripts on their way to the object store, many in one object where many come at once.

A durable write of its own for every delivery costs more than the delivery. So a writer takes all that wait
(group commit): alone, a transcript is one object; under load, what came during one write is the next object.
An outcome is told only after its transcript is there. A store that fails or hangs costs the transcript, never
the delivery: what was sent stays sent, and the event says why its transcript is missing.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conductor.handler import Work
from switchyard.errors import StoreError
from switchyard.store import Store
from switchyard.transcript import FIELD, transcript_key

LARGEST_GROUP = 256
LARGEST_BYTES = 8 * 2**20
WRITERS = 1
PATIENCE = 10.0  # seconds
LINGER = 0.001  # seconds; a transcript that is alone never waits, and slots do not wait long for company


@dataclass(slots=True)
class _Waiting:
    work: Work
    line: Callable[[], bytes]  # put together when it is written, many in one go: that is what keeps it cheap
    place: asyncio.Future[dict[str, Any]]


class Archive:
    """Keeps transcripts; `keep` returns when they are durable."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: deque[_Waiting] = deque()
        self._writers: set[asyncio.Task[None]] = set()
        self._writing = 0  # writers that will look at the queue again; a task that ended is in the set still

    async def keep(self, work: Work, line: Callable[[], bytes]) -> dict[str, Any]:
        """Where the transcript is, or why it is nowhere: a part of the event's detail."""
        place: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(work, line, place))
        if self._writing < WRITERS:
            self._writing += 1
            writer = asyncio.create_task(self._write_all())
            self._writers.add(writer)
            writer.add_done_callback(self._writers.discard)
        return await place

    async def close(self) -> None:
        """Wait for what is being written."""
        await asyncio.gather(*self._writers)

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                group, lines = self._taken()
                await self._write(group, lines)
                if len(group) > 1:  # busy: what comes in a moment goes into the same object
                    await asyncio.sleep(LINGER)
        finally:
            self._writing -= 1

    def _taken(self) -> tuple[list[_Waiting], list[bytes]]:
        """As many of those that wait as one object may hold, at least one."""
        group: list[_Waiting] = []
        lines: list[bytes] = []
        size = 0
        while self._waiting and len(group) < LARGEST_GROUP and size < LARGEST_BYTES:
            group.append(self._waiting.popleft())
            lines.append(group[-1].line())
            size += len(lines[-1])
        return group, lines

    async def _write(self, group: list[_Waiting], lines: list[bytes]) -> None:
        first = group[0].work
        place = await self._written(transcript_key(first.uuid, first.run, first.attempt), b"\n".join(lines))
        for number, waiting in enumerate(group):
            if not waiting.place.done():  # a dispatch that was told to stop has gone
                waiting.place.set_result({FIELD: {**place, "line": number}} if "key" in place else place)

    async def _written(self, key: str, data: bytes) -> dict[str, Any]:
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.to_thread(self._store.put, key, data)
        except StoreError as error:
            return {"transcript_error": str(error)[:300]}
        except TimeoutError:
            return {"transcript_error": f"the object store did not answer within {PATIENCE:g} s"}
        return {"key": key}
