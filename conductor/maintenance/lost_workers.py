"""Marks workers without heartbeats as lost, terminates their backends, pauses names with many of them."""

import time
from collections.abc import Callable
from typing import Any

from conductor.maintenance.own_session import OwnSession
from conductor.metrics import MaintenanceMetrics
from conductor.session.session import Session
from switchyard.config.daemons import Workers
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger
from switchyard.process.silence import Lost, Silence

log = get_logger(__name__)

PAUSE_WHERE_LOST = query("conductor", "pause_where_lost")
FORGET_WORKERS = query("conductor", "forget_workers")
FORGET_ACTIVITY = query("conductor", "forget_activity")
FORGET_EVERY = 100  # looks


class LostWorkers:
    """The loop; every conductor runs it for all workers."""

    name = "lost workers"

    def __init__(
        self,
        own: OwnSession,
        workers: Workers,
        metrics: MaintenanceMetrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._own = own
        self._workers = workers
        self._metrics = metrics
        self._every = min(workers.beat, workers.lost_after / 4)
        self._silence = Silence(self._every, clock)
        self._unweighed = True  # workers were marked lost since names were last paused for it
        self._looks = 0

    async def run_once(self) -> float:
        """Mark lost workers, report them, pause their names if needed, delete old rows."""
        async with self._own.session() as session:
            lost = await self._silence.mark_lost(session.rows, self._workers.lost_after)
            self._unweighed = self._unweighed or bool(lost)
            paused = await self._pause(session) if self._unweighed else []
            self._unweighed = False
            await self._forget(session)
        self._report(lost, paused)
        return self._silence.pause

    async def _pause(self, session: Session) -> list[Any]:
        """Pause names with too many lost workers; only needed after a worker was marked lost."""
        settings = self._workers
        limits = {"ratio": settings.max_lost_ratio, "least": settings.min_lost, "within": settings.keep}
        return await session.rows(PAUSE_WHERE_LOST, limits)

    async def _forget(self, session: Session) -> None:
        if self._looks % FORGET_EVERY == 0:
            await session.rows(FORGET_WORKERS, {"keep": self._workers.keep})
            await session.rows(FORGET_ACTIVITY)
        self._looks += 1

    def _report(self, lost: list[Lost], paused: list[Any]) -> None:
        for worker in lost:
            self._metrics.lost.labels(worker.kind).inc()
        for action, count, started in paused:
            log.error("too many workers were lost: paused", action=action, lost=count, started=started)
