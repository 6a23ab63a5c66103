"""Schedules that missed ticks and campaigns that are stuck, for the metrics."""

from conductor.maintenance.own_session import OwnSession
from conductor.metrics import MaintenanceMetrics
from switchyard.ledger.queries import query

MISSED = query("conductor", "missed")
CAMPAIGNS = query("conductor", "campaigns")
EVERY = 60.0


class Overdue:
    """Read from the database: what a conductor has counted is lost with it, and outages end with a start."""

    name = "overdue"

    def __init__(self, own: OwnSession, metrics: MaintenanceMetrics) -> None:
        self._own = own
        self._metrics = metrics

    async def run_once(self) -> float | None:
        """Replace all series; without a schedule or an open campaign, sleep until the pulse finds one."""
        async with self._own.session() as session:
            schedules = await session.rows(MISSED)
            campaigns = await session.rows(CAMPAIGNS)
        missed, states = self._metrics.missed_ticks, self._metrics.campaigns
        missed.clear()
        states.clear()
        for name, recently in schedules:
            missed.labels(name).set(recently)
        for state, count in campaigns:
            states.labels(state).set(count)
        return EVERY if schedules or campaigns else None
