"""Workers that stopped beating: marked lost, their backends ended, their names paused where they are many."""

import time
from collections.abc import Callable

from conductor.maintenance.own_session import OwnSession
from conductor.maintenance.silence import Silence
from conductor.metrics import ConductorMetrics
from switchyard.config.daemons import Workers
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger

log = get_logger(__name__)

LIVING = query("conductor", "living")
MARK_LOST = query("conductor", "mark_lost")
PAUSE_WHERE_LOST = query("conductor", "pause_where_lost")
FORGET_WORKERS = query("conductor", "forget_workers")


class LostWorkers:
    """Any conductor does this for all of them."""

    name = "lost workers"

    def __init__(
        self,
        own: OwnSession,
        workers: Workers,
        metrics: ConductorMetrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._own = own
        self._workers = workers
        self._metrics = metrics
        self._every = min(workers.beat, workers.lost_after / 4)
        self._silence = Silence(self._every, clock)

    async def run_once(self) -> float:
        """Mark, report, pause, sweep."""
        settings = self._workers
        async with self._own.session() as session:
            silent = self._silence.look(await session.rows(LIVING), settings.lost_after)
            lost = []
            if silent:
                workers, beats = zip(*silent, strict=True)
                lost = await session.rows(MARK_LOST, {"workers": list(workers), "beats": list(beats)})
            limits = {"ratio": settings.max_lost_ratio, "least": settings.min_lost, "within": settings.keep}
            paused = await session.rows(PAUSE_WHERE_LOST, limits)
            await session.rows(FORGET_WORKERS, {"keep": settings.keep})
        for worker, kind, action, host, beat_at, terminated in lost:
            self._metrics.lost.labels(kind).inc()
            log.error(
                "a worker is lost",
                worker=str(worker),
                kind=kind,
                action=action,
                host=host,
                last_beat=str(beat_at),
                backend_ended=terminated,
            )
        for action, count, started in paused:
            log.error("too many workers were lost: paused", action=action, lost=count, started=started)
        return self._every
