"""The pulse: one statement with the heartbeats of all resting workers, which also finds work for what sleeps.

Loops that found nothing sleep until they are woken. A notification wakes them, and so does the pulse, which
bounds what a lost notification costs.
"""

from collections.abc import Callable

from conductor.maintenance.own_session import OwnSession
from conductor.resting import Resting
from switchyard.ledger.queries import query

PULSE = query("conductor", "pulse")


class Pulse:
    """The loop that sends the pulse."""

    name = "pulse"

    def __init__(self, own: OwnSession, resting: Resting, wake: Callable[..., None]) -> None:
        self._own = own
        self._resting = resting
        self._wake = wake

    async def run_once(self) -> float:
        """Send the heartbeats, then wake the workers and loops that have work."""
        workers = dict(self._resting.workers)
        values = {
            "workers": list(workers),
            "names": sorted({each.name for each in workers.values()}),
            "alone": sorted({each.name for each in workers.values() if each.orphans}),
        }
        async with self._own.session() as session:
            [[living, due, loops]] = await session.rows(PULSE, values)
        self._resting.heard(frozenset(living), frozenset(due), workers)
        self._wake(*loops)
        return self._resting.seconds
