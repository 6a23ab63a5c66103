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
        now = self._clock()
        passed, self._looked = min(now - self._looked, 2 * self._every), now
        before, self._silent = self._silent, {}
        # Cabooses first: assessment workers are heard through them, and not at all where none is there.
        rows = sorted(living, key=lambda row: row[1] != "caboose")
        for worker, kind, beat in rows:
            heard = passed if kind != "assessment" or self._hears(rows, lost_after) else 0.0
            last, silent = before.get(worker, (None, 0.0))
            self._silent[worker] = (beat, silent + heard if beat == last else 0.0)
        return [(worker, beat) for worker, (beat, silent) in self._silent.items() if silent >= lost_after]

    def _hears(self, rows: list[Beat], lost_after: float) -> bool:
        return any(self._silent[worker][1] < lost_after for worker, kind, _ in rows if kind == "caboose")
