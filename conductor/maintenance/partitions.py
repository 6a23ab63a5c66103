"""Creates partitions ahead of time and drops those past retention; one instance at a time.

Dropping cannot be undone, so one look at one clock is not enough: a partition is dropped only if it was old
at the previous pass too, and if the server's clock agrees with this machine's.
"""

import time
from collections.abc import Callable

import psycopg

from conductor.maintenance.own_session import OwnSession
from conductor.metrics import MaintenanceMetrics
from conductor.session.session import Session
from switchyard.config.daemons import Partitions
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger

log = get_logger(__name__)

ENSURE = query("conductor", "ensure_partitions")
OLD = query("conductor", "old_partitions")
DROP = query("conductor", "drop_partition")
DAYS_AHEAD = query("conductor", "days_ahead")
AGAIN = 10.0
MOST_SKEW = 60.0


class PartitionCare:
    """Every instance tries; one that finds another at work tries again soon."""

    name = "partitions"

    def __init__(
        self,
        own: OwnSession,
        settings: Partitions,
        metrics: MaintenanceMetrics,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._own = own
        self._settings = settings
        self._metrics = metrics
        self._clock = clock
        self._were_old: frozenset[str] = frozenset()

    async def run_once(self) -> float:
        """Create missing partitions, drop old ones, and update the metric of days ahead."""
        try:
            return await self._look_after()
        except psycopg.errors.LockNotAvailable:
            return AGAIN

    async def _look_after(self) -> float:
        left = False
        async with self._own.session() as session:
            wanted = {"days": self._settings.days_ahead, "interval": self._settings.interval}
            await session.rows(ENSURE, wanted)
            for suffix in await self._old(session):
                [[reason]] = await session.rows(DROP, {"suffix": suffix})
                left |= reason is not None
                log.info("partition of old actions", suffix=suffix, kept_because=reason)
            [[days]] = await session.rows(DAYS_AHEAD)
        self._metrics.days_ahead.set(days or 0.0)
        return min(self._settings.every, 60.0) if left else self._settings.every

    async def _old(self, session: Session) -> list[str]:
        """Partitions that were old at the previous pass and still are."""
        if self._settings.retention is None:
            return []
        [[old, server]] = await session.rows(OLD, {"retention": self._settings.retention})
        skew = server - self._clock()
        if abs(skew) > MOST_SKEW:
            log.warning("nothing is dropped: the clocks of server and conductor differ", seconds=round(skew))
            old = []
        before, self._were_old = self._were_old, frozenset(old)
        return [suffix for suffix in old if suffix in before]
