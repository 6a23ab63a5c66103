"""The queue's depth and age, and what is paused, for the metrics."""

from conductor.maintenance.own_session import OwnSession
from conductor.metrics import MaintenanceMetrics
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger

log = get_logger(__name__)

QUEUE = query("conductor", "queue")
PAUSED = query("conductor", "paused")
LANES = query("conductor", "lanes")
EVERY = 10.0


class QueueDepth:
    """Asked for now and then, not at every scrape."""

    name = "queue depth"

    def __init__(self, own: OwnSession, metrics: MaintenanceMetrics) -> None:
        self._own = own
        self._metrics = metrics
        self._paused: dict[str, tuple[str, str]] = {}

    async def run_once(self) -> float | None:
        """Replace all series: a name that is gone from the queue is gone from the metrics."""
        async with self._own.session() as session:
            rows = await session.rows(QUEUE)
            paused = {name: (actor, reason) for name, actor, reason in await session.rows(PAUSED)}
            lanes = await session.rows(LANES)
        made = self._metrics
        for gauge in (made.depth, made.age, made.paused, made.lanes, made.in_flight):
            gauge.clear()
        for name, flow, state, count, in_flight in lanes:
            made.lanes.labels(name, flow, state).set(count)
            made.in_flight.labels(name, flow).inc(in_flight)
        for name, status, depth, age in rows:
            self._metrics.depth.labels(name, status).set(depth)
            self._metrics.age.labels(name, status).set(age)
        for name in paused:
            self._metrics.paused.labels(name).set(1)
        self._tell(paused)
        return EVERY if rows or paused else None

    def _tell(self, paused: dict[str, tuple[str, str]]) -> None:
        for name in paused.keys() - self._paused.keys():
            actor, reason = paused[name]
            log.warning("paused: nothing is claimed", action=name, actor=actor, reason=reason)
        for name in self._paused.keys() - paused.keys():
            log.info("resumed", action=name)
        self._paused = paused
