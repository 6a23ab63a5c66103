"""Writes transcripts to the object store, many in one object.

A durable write takes longer than the delivery. So waiting transcripts are written in groups
(conductor/dispatch/group_commit.py): without load, each transcript is one object; under load, those that
arrive during one write form the next object. An outcome is recorded only after its transcript is stored. A
store that fails or hangs loses transcripts but never deliveries: the event then has the reason why its
transcript is missing.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from switchyard.errors import StoreError
from switchyard.handlers import Work
from switchyard.store import Store
from switchyard.transcript import FIELD, transcript_key

LARGEST_GROUP = 256
LARGEST_BYTES = 8 * 2**20
PATIENCE = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class Transcript:
    """The transcript of one delivery, and the outcome's detail, to which its location is added."""

    work: Work
    line: Callable[[], bytes]  # built when it is written, many at once, which makes it cheap
    detail: dict[str, Any]


class Archive:
    """Stores transcripts."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def keep(self, transcripts: Iterable[Transcript]) -> None:
        """Write transcripts; their details get the location, or the reason why it is missing."""
        await asyncio.gather(*(self._write(group, lines) for group, lines in _groups(transcripts)))

    async def _write(self, group: Sequence[Transcript], lines: Sequence[bytes]) -> None:
        first = group[0].work
        key = transcript_key(first.uuid, first.run, first.attempt)
        error = await self._error_in_writing(key, b"\n".join(lines))
        for number, transcript in enumerate(group):
            if error is None:
                transcript.detail[FIELD] = {"key": key, "line": number}
            else:
                transcript.detail["transcript_error"] = error

    async def _error_in_writing(self, key: str, data: bytes) -> str | None:
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.to_thread(self._store.put, key, data)
        except StoreError as error:
            return str(error)[:300]
        except TimeoutError:
            return f"the object store did not answer within {PATIENCE:g} s"
        return None


def _groups(transcripts: Iterable[Transcript]) -> Iterator[tuple[list[Transcript], list[bytes]]]:
    """Groups with as many transcripts as one object may hold, at least one."""
    group: list[Transcript] = []
    lines: list[bytes] = []
    size = 0
    for transcript in transcripts:
        if len(group) >= LARGEST_GROUP or size >= LARGEST_BYTES:
            yield group, lines
            group, lines, size = [], [], 0
        group.append(transcript)
        lines.append(transcript.line())
        size += len(lines[-1])
    if group:
        yield group, lines
