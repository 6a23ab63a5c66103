"""The queue's depth and age, and what is paused, for the metrics."""

from conductor.desk import Desk
from conductor.metrics import ConductorMetrics
from switchyard.ledger.queries import query

QUEUE = query("conductor", "queue")
EVERY = 10.0


class QueueDepth:
    """Asked for now and then, not at every scrape."""

    name = "queue depth"

    def __init__(self, desk: Desk, metrics: ConductorMetrics) -> None:
        self._desk = desk
        self._metrics = metrics

    async def run_once(self) -> float:
        """Replace all series: a name that is gone from the queue is gone from the metrics."""
        async with self._desk.session() as session:
            rows = await session.rows(QUEUE)
        for gauge in (self._metrics.depth, self._metrics.age, self._metrics.paused):
            gauge.clear()
        for name, status, depth, age, paused in rows:
            self._metrics.depth.labels(name, status).set(depth)
            self._metrics.age.labels(name, status).set(age)
            self._metrics.paused.labels(name).set(int(paused))
        return EVERY
