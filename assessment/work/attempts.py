"""How often a job was begun: an object beside its checkpoint, so that a crash of the process counts.

Written before the work, taken back where the job is handed back in order. A job that kills its worker comes
again with the count still up, and ends instead of killing workers for ever.
"""

import json
from dataclasses import dataclass

from switchyard.errors import StoreMissing
from switchyard.store import Store

NAME = "attempts.json"
BACKSTOP = 3
"""The queue's own count of deliveries, at so many times the maximum, ends a job in any case."""


@dataclass(frozen=True)
class Attempts:
    store: Store
    home: str

    def begin(self) -> int:
        """Count one more; its number, from 1."""
        number = self.count() + 1
        self._write(number)
        return number

    def take_back(self) -> None:
        """The one begun last does not count."""
        self._write(max(0, self.count() - 1))

    def count(self) -> int:
        try:
            said = json.loads(self.store.get(f"{self.home}/{NAME}", limit=4096))["attempts"]
        except StoreMissing:
            return 0
        except (ValueError, KeyError, TypeError):
            return 0  # not written by us; the queue's own count still bounds it
        return said if isinstance(said, int) and said >= 0 else 0

    def _write(self, number: int) -> None:
        self.store.put(f"{self.home}/{NAME}", json.dumps({"attempts": number}).encode())


def used_up(attempt: int, deliveries: int, most: int) -> str | None:
    """Why a job must not be started again, or None."""
    if attempt > most:
        return f"started {most} times, and the worker died each time; needs review"
    if deliveries > BACKSTOP * most:
        return f"delivered {deliveries} times and never finished; needs review"
    return None
