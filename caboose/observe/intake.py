"""The intake: observations that were reported and are not processed yet.

Three places: a bounded queue of what is new; what waits for something shared (the store, a lock), which stops
the queue while there is much of it; and what was set aside because it waits for something of its own, or was
refused; it does not delay others.
"""

import asyncio
import heapq
import math
import time
from collections.abc import Callable, Hashable, Iterable
from itertools import count
from uuid import UUID

from caboose.leader import Leader
from switchyard.process.log import get_logger
from switchyard.sources import Observation, Seen, Source
from switchyard.status import Status

log = get_logger(__name__)

MOST_ASIDE = 10_000

Key = tuple[UUID, int, Status | None]


def _key(seen: Seen) -> Key | None:
    """The key by which observations are deduplicated; one that must be acknowledged is always unique."""
    if not isinstance(seen, Observation) or seen.acknowledge or seen.handle:
        return None
    key = seen.uuid, seen.run, seen.status
    return key if all(isinstance(part, Hashable) for part in key) else None


class Intake:
    """Fills from a source no faster than it is emptied."""

    def __init__(
        self, source: Source, leader: Leader, room: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = f"observe {source.name}"
        self._source = source
        self._leader = leader
        self._room = room
        self._clock = clock
        self._came: asyncio.Queue[Seen] = asyncio.Queue(maxsize=room)
        self._later: list[tuple[float, int, Seen]] = []
        self._aside: list[tuple[float, int, Seen]] = []
        self._keys: set[Key | None] = set()
        self._number = count()
        self.on_arrival: Callable[[], None] = lambda: None

    @property
    def waiting(self) -> int:
        """How many observations wait for a retry."""
        return len(self._later) + len(self._aside)

    async def run_once(self) -> float | None:
        """Observe until the source ends or fails; the runner then starts again."""
        async for seen in self._leader.while_leading(self._source.observations):
            await self.put(seen)
        return 1.0

    async def put(self, seen: Seen) -> None:
        """Add an observation; waits while the queue is full."""
        await self._came.put(seen)
        self.on_arrival()

    def take(self, most: int) -> list[Seen]:
        """Take due retries, then new observations; no new ones while too many wait."""
        now = self._clock()
        taken: list[Seen] = []
        self._take_due(self._later, now, most, taken)
        while len(taken) < most and len(self._later) < self._room and not self._came.empty():
            taken.append(self._came.get_nowait())
        return taken

    def take_aside(self, most: int) -> list[Seen]:
        """Take due retries of cases that were set aside, as a separate batch because they may fail again."""
        taken: list[Seen] = []
        self._take_due(self._aside, self._clock(), most, taken)
        return taken

    def put_back(self, seen: Iterable[Seen], seconds: float, *, aside: bool = False) -> None:
        """Return an observation for a retry after this many seconds; `aside` ones do not block new ones."""
        # The more is aside, the longer it waits there: trying it again must not take the time of what is new.
        due = self._clock() + seconds * (1 + len(self._aside) / self._room if aside else 1)
        for each in seen:
            key = _key(each)
            if key is None or key not in self._keys:
                heapq.heappush(self._aside if aside else self._later, (due, next(self._number), each))
            if key is not None:
                self._keys.add(key)
        while len(self._aside) > MOST_ASIDE:
            self._drop(heapq.heappop(self._aside)[2])

    def _take_due(
        self, heap: list[tuple[float, int, Seen]], now: float, most: int, taken: list[Seen]
    ) -> None:
        while heap and heap[0][0] <= now and len(taken) < most:
            again = heapq.heappop(heap)[2]
            self._keys.discard(_key(again))
            taken.append(again)

    def _drop(self, seen: Seen) -> None:
        """Drop it: its message is delivered again, or its backend lists it again after a restart."""
        self._keys.discard(_key(seen))
        log.warning("too much was set aside: the oldest is dropped", source=self._source.name)

    def next_in(self) -> float | None:
        """Seconds until something is due; 0 if it is now, None if nothing waits."""
        room = len(self._later) < self._room and not self._came.empty()
        due = min(heap[0][0] if heap else math.inf for heap in (self._later, self._aside)) - self._clock()
        if room or due <= 0:
            return 0.0
        return None if due == math.inf else due
