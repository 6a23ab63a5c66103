"""The number of attempts of a job, stored in an object beside its checkpoint, so that a crash counts.

It is incremented before the work and decremented if the job is returned in order. A job that kills its worker
is delivered again with the incremented count, so it ends after a limited number of attempts. Decrements are
counted too, because the queue counts those deliveries.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

from switchyard.errors import StoreMissing
from switchyard.store import Store

NAME = "attempts.json"
BACKSTOP = 3
"""A job ends if its deliveries, less the returned ones, exceed this multiple of the maximum."""


@dataclass(frozen=True)
class Count:
    attempts: int = 0
    taken_back: int = 0


@dataclass(frozen=True)
class Attempts:
    store: Store
    home: str

    def begin(self) -> Count:
        """Count one more attempt."""
        before = self.count()
        return self._write(Count(before.attempts + 1, before.taken_back))

    def take_back(self) -> None:
        """Do not count the last attempt."""
        before = self.count()
        self._write(Count(max(0, before.attempts - 1), before.taken_back + 1))

    def count(self) -> Count:
        try:
            said = json.loads(self.store.get(f"{self.home}/{NAME}", limit=4096))
        except (StoreMissing, ValueError):
            return Count()  # never begun, or not written by us; the queue's own count is still a limit
        return Count(_whole(said, "attempts"), _whole(said, "taken_back"))

    def _write(self, count: Count) -> Count:
        self.store.put(f"{self.home}/{NAME}", json.dumps(asdict(count)).encode())
        return count


def _whole(said: Any, name: str) -> int:
    value = said.get(name) if isinstance(said, dict) else None
    return value if isinstance(value, int) and value >= 0 else 0


def used_up(count: Count, deliveries: int, most: int) -> str | None:
    """The reason why a job must not be started again, or None."""
    if count.attempts > most:
        return f"started {most} times, and the worker died each time; needs review"
    if deliveries - count.taken_back > BACKSTOP * most:
        return f"delivered {deliveries} times and never finished; needs review"
    return None
