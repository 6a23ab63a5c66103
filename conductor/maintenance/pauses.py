"""Reports paused action names in the metrics and the log."""

from conductor.maintenance.own_session import OwnSession
from conductor.metrics import MaintenanceMetrics
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger

log = get_logger(__name__)

PAUSED = query("conductor", "paused")
EVERY = 10.0


class Pauses:
    """Logs every new pause, and its end."""

    name = "pauses"

    def __init__(self, own: OwnSession, metrics: MaintenanceMetrics) -> None:
        self._own = own
        self._metrics = metrics
        self._known: set[str] = set()

    async def run_once(self) -> float | None:
        """Report changes; sleeps while nothing is paused, until the pulse finds a pause."""
        async with self._own.session() as session:
            paused = {name: (actor, reason) for name, actor, reason in await session.rows(PAUSED)}
        self._metrics.paused.clear()
        for name in paused:
            self._metrics.paused.labels(name).set(1)
        for name in paused.keys() - self._known:
            actor, reason = paused[name]
            log.warning("paused: nothing is claimed", action=name, actor=actor, reason=reason)
        for name in self._known - paused.keys():
            log.info("resumed", action=name)
        self._known = set(paused)
        return EVERY if paused else None
