"""The causes of the failures in the inbox, for the metrics."""

from conductor.maintenance.own_session import OwnSession
from conductor.metrics import MaintenanceMetrics
from switchyard.ledger.queries import query

CAUSES = query("conductor", "causes")
EVERY = 60.0  # not often, because it reads every failure in the inbox


class Causes:
    """How many causes there are, by trend; which ones is for `switchyard inbox --by-cause`."""

    name = "causes"

    def __init__(self, own: OwnSession, metrics: MaintenanceMetrics) -> None:
        self._own = own
        self._metrics = metrics

    async def run_once(self) -> float | None:
        """Replace all series; without a failure, sleep until the pulse finds one."""
        async with self._own.session() as session:
            rows = await session.rows(CAUSES)
        self._metrics.causes.clear()
        for trend, causes in rows:
            self._metrics.causes.labels(trend).set(causes)
        return EVERY if rows else None
