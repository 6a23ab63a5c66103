"""How long each worker has been silent, in time in which it could have been heard.

Measured by this process's monotonic clock, from one successful look at the workers' rows to the next. The
server's clock is never compared with anything, so a jump of it loses nobody. While the database is away
nobody can beat and nobody can look, and a paused process does not look either: the next look then counts for
no more than two regular pauses. So after an outage every worker has nearly all of `lost_after` to beat again.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from uuid import UUID

Beat = tuple[UUID, str, datetime]


class Silence:
    """What one marker knows of everybody's beats."""

    def __init__(self, every: float, clock: Callable[[], float]) -> None:
        self._every = every
        self._clock = clock
        self._looked = clock()
        self._silent: dict[UUID, tuple[datetime, float]] = {}

    def look(self, living: Iterable[Beat], lost_after: float) -> list[tuple[UUID, datetime]]:
        """Those that have been silent for too long, each with its last beat."""
        rows = list(living)
        now = self._clock()
        heard, self._looked = min(now - self._looked, 2 * self._every), now
        self._silent = {worker: (beat, self._longer(worker, beat, heard)) for worker, _, beat in rows}
        # Assessment workers are heard through caboose: without one their silence says nothing.
        deaf = all(self._silent[worker][1] >= lost_after for worker, kind, _ in rows if kind == "caboose")
        return [
            (worker, beat)
            for worker, kind, beat in rows
            if self._silent[worker][1] >= lost_after and not (kind == "assessment" and deaf)
        ]

    def _longer(self, worker: UUID, beat: datetime, heard: float) -> float:
        before, silent = self._silent.get(worker, (None, 0.0))
        return silent + heard if beat == before else 0.0
