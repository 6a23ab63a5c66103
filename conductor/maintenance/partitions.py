"""Partitions made ahead and dropped by retention; the ledger lets one instance at a time do it."""

import psycopg

from conductor.maintenance.own_session import OwnSession
from conductor.metrics import ConductorMetrics
from switchyard.config.partitions import Partitions
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger

log = get_logger(__name__)

ENSURE = query("conductor", "ensure_partitions")
OLD = query("conductor", "old_partitions")
DROP = query("conductor", "drop_partition")
DAYS_AHEAD = query("conductor", "days_ahead")
AGAIN = 10.0


class PartitionCare:
    """Every instance tries; who finds another at it comes back soon."""

    name = "partitions"

    def __init__(self, own: OwnSession, settings: Partitions, metrics: ConductorMetrics) -> None:
        self._own = own
        self._settings = settings
        self._metrics = metrics

    async def run_once(self) -> float:
        """Make what is missing, drop what is old, and say how long it lasts."""
        try:
            return await self._look_after()
        except psycopg.errors.LockNotAvailable:
            return AGAIN

    async def _look_after(self) -> float:
        left = False
        async with self._own.session() as session:
            await session.rows(ENSURE, {"days": self._settings.days_ahead})
            old = []
            if self._settings.retention is not None:
                old = await session.rows(OLD, {"retention": self._settings.retention})
            for (suffix,) in old:
                [[reason]] = await session.rows(DROP, {"suffix": suffix})
                left |= reason is not None
                log.info("partition of old actions", suffix=suffix, kept_because=reason)
            [[days]] = await session.rows(DAYS_AHEAD)
        self._metrics.days_ahead.set(days or 0.0)
        return min(self._settings.every, 60.0) if left else self._settings.every
