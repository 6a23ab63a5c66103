"""What came from a source and waits to be dealt with: bounded, and with a waiting room for what must wait."""

import asyncio
import heapq
import math
import time
from collections.abc import Callable, Iterable
from itertools import count
from uuid import UUID

from switchyard.sources import Observation, Seen, Source
from switchyard.status import Status

Key = tuple[UUID, int, Status | None]


def _key(seen: Seen) -> Key | None:
    """What makes two observations the same; one that must be acknowledged is like no other."""
    if not isinstance(seen, Observation) or seen.acknowledge or seen.handle:
        return None
    return seen.uuid, seen.run, seen.status


class Intake:
    """Fills from a source as fast as it is emptied, and no faster."""

    def __init__(self, source: Source, room: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = f"observe {source.name}"
        self._source = source
        self._room = room
        self._clock = clock
        self._came: asyncio.Queue[Seen] = asyncio.Queue(maxsize=room)
        self._later: list[tuple[float, int, Seen]] = []
        self._keys: set[Key | None] = set()
        self._number = count()
        self.on_arrival: Callable[[], None] = lambda: None

    @property
    def waiting(self) -> int:
        """How many are in the waiting room."""
        return len(self._later)

    async def run_once(self) -> float | None:
        """Observe until the source ends or fails; then it is observed anew."""
        async for seen in self._source.observations():
            await self.put(seen)
        return 1.0

    async def put(self, seen: Seen) -> None:
        """Hand one in; waits while there is no room."""
        await self._came.put(seen)
        self.on_arrival()

    def take(self, most: int) -> list[Seen]:
        """What is due again, then what is new; nothing new while too much waits."""
        now = self._clock()
        taken: list[Seen] = []
        while self._later and self._later[0][0] <= now and len(taken) < most:
            again = heapq.heappop(self._later)[2]
            self._keys.discard(_key(again))
            taken.append(again)
        while len(taken) < most and len(self._later) < self._room and not self._came.empty():
            taken.append(self._came.get_nowait())
        return taken

    def put_back(self, seen: Iterable[Seen], seconds: float) -> None:
        """Not now: again after so many seconds."""
        due = self._clock() + seconds
        for each in seen:
            key = _key(each)
            if key is None or key not in self._keys:
                heapq.heappush(self._later, (due, next(self._number), each))
            if key is not None:
                self._keys.add(key)

    def next_in(self) -> float | None:
        """Seconds until something is due; 0 where it is now, None where only an arrival helps."""
        room = len(self._later) < self._room and not self._came.empty()
        due = self._later[0][0] - self._clock() if self._later else math.inf
        if room or due <= 0:
            return 0.0
        return None if due == math.inf else due
