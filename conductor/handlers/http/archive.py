"""Transcripts on their way to the object store, many in one object where many come at once.

A durable write of its own for every delivery costs more than the delivery. So a writer takes all that wait
(group commit): alone, a transcript is one object; under load, what came during one write is the next object.
An outcome is told only after its transcript is there. A store that fails or hangs costs the transcript, never
the delivery: what was sent stays sent, and the event says why its transcript is missing.
"""

import asyncio
from typing import Any

from conductor.handler import Work
from switchyard.errors import StoreError
from switchyard.store import Store
from switchyard.transcript import FIELD, transcript_key

LARGEST_GROUP = 256
LARGEST_BYTES = 8 * 2**20
WRITERS = 1
PATIENCE = 30.0  # seconds


class Archive:
    """Keeps transcripts; `keep` returns when they are durable."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[tuple[str, bytes, asyncio.Future[dict[str, Any]]]] = []
        self._writers: set[asyncio.Task[None]] = set()
        self._writing = 0  # writers that will look at the queue again; a task that ended is in the set still

    async def keep(self, work: Work, line: bytes) -> dict[str, Any]:
        """Where the transcript is, or why it is nowhere: a part of the event's detail."""
        done: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append((transcript_key(work.uuid, work.run, work.attempt), line, done))
        if self._writing < WRITERS:
            self._writing += 1
            writer = asyncio.create_task(self._write_all())
            self._writers.add(writer)
            writer.add_done_callback(self._writers.discard)
        return await done

    async def close(self) -> None:
        """Wait for what is being written."""
        await asyncio.gather(*self._writers)

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                group = self._taken()
                place = await self._written(group[0][0], b"\n".join([line for _, line, _ in group]))
                for number, (_, _, done) in enumerate(group):
                    if not done.done():  # a dispatch that was told to stop has gone
                        done.set_result({FIELD: {**place, "line": number}} if "key" in place else place)
        finally:
            self._writing -= 1

    def _taken(self) -> list[tuple[str, bytes, asyncio.Future[dict[str, Any]]]]:
        count = size = 0
        for _, line, _ in self._waiting[:LARGEST_GROUP]:
            size += len(line)
            if count and size > LARGEST_BYTES:
                break
            count += 1
        group, self._waiting = self._waiting[:count], self._waiting[count:]
        return group

    async def _written(self, key: str, data: bytes) -> dict[str, Any]:
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.to_thread(self._store.put, key, data)
        except StoreError as error:
            return {"transcript_error": str(error)[:300]}
        except TimeoutError:
            return {"transcript_error": f"the object store did not answer within {PATIENCE:g} s"}
        return {"key": key}
