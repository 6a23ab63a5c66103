"""Finds lost workers: those that were silent for too long while a heartbeat could have been seen.

Measured by this process's monotonic clock, from one successful look at the workers' rows to the next. The
server's clock is not used, so a jump of it marks no worker lost. While the database is unavailable no
heartbeats and no looks are possible, and a paused process does not look either: the next look then counts
for no more than a pause and a regular one. So after an outage every worker has nearly all of `lost_after`
to beat again. A worker that rests may be silent for so much longer; while all of them rest, the looks are
as rare.

Conductors look at all workers. A caboose that stands by looks at cabooses, so that a leader that hangs is
replaced where no conductor runs.
"""

import time
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from switchyard.ledger.queries import query
from switchyard.process.heartbeat import Execute
from switchyard.process.log import get_logger

log = get_logger(__name__)

LIVING = query("worker", "living")
MARK_LOST = query("worker", "mark_lost")

Beat = tuple[UUID, str, datetime, float]


class Lost(NamedTuple):
    """A worker that was just marked lost."""

    worker: UUID
    kind: str
    action_name: str | None
    host: str
    beat_at: datetime
    terminated: bool


class Silence:
    """One observer's knowledge of the other workers' heartbeats."""

    def __init__(self, every: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._every = every
        self.pause = every  # until the next look
        self._clock = clock
        self._looked = clock()
        self._silent: dict[UUID, tuple[datetime, float]] = {}

    async def mark_lost(self, execute: Execute, lost_after: float, kind: str | None = None) -> list[Lost]:
        """Mark workers that were silent for too long, optionally of one kind; terminate their connections."""
        living = [row for row in await execute(LIVING, {}) if kind in (None, row[1])]
        silent = self.look(living, lost_after)
        if not silent:
            return []
        workers, beats = zip(*silent, strict=True)
        rows = await execute(MARK_LOST, {"workers": list(workers), "beats": list(beats)})
        lost = [Lost(*row) for row in rows]
        for each in lost:
            log.error(
                "a worker is lost",
                worker=str(each.worker),
                kind=each.kind,
                action=each.action_name,
                host=each.host,
                last_beat=str(each.beat_at),
                backend_ended=each.terminated,
            )
        return lost

    def look(self, living: Iterable[Beat], lost_after: float) -> list[tuple[UUID, datetime]]:
        """The workers that were silent for too long, each with its last heartbeat."""
        now = self._clock()
        passed, self._looked = min(now - self._looked, self.pause + self._every), now
        before, self._silent = self._silent, {}
        # Cabooses first: assessment workers are heard through them, and not at all where none is there.
        rows = sorted(living, key=lambda row: row[1] != "caboose")
        for worker, kind, beat, _ in rows:
            heard = passed if kind != "assessment" or self._hears(rows, lost_after) else 0.0
            last, silent = before.get(worker, (None, 0.0))
            self._silent[worker] = (beat, silent + heard if beat == last else 0.0)
        self.pause = max(self._every, min((rests for *_, rests in rows), default=0.0))
        return [
            (worker, beat) for worker, _, beat, rests in rows if self._silent[worker][1] >= lost_after + rests
        ]

    def _hears(self, rows: list[Beat], lost_after: float) -> bool:
        cabooses = [(worker, rests) for worker, kind, _, rests in rows if kind == "caboose"]
        return any(self._silent[worker][1] < lost_after + rests for worker, rests in cabooses)
