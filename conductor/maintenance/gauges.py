"""Metrics that are read from the ledger at intervals, not at every scrape; one loop per subject."""

from typing import Any, LiteralString

from prometheus_client import Gauge

from conductor.maintenance.own_session import OwnSession
from conductor.metrics import MaintenanceMetrics
from switchyard.ledger.queries import query

QUEUE = query("conductor", "queue")
LANES = query("conductor", "lanes")
IN_FLIGHT = query("conductor", "in_flight")
CAUSES = query("conductor", "causes")
MISSED = query("conductor", "missed")
CAMPAIGNS = query("conductor", "campaigns")


class Series:
    """The gauges that one query fills: each row has the labels, then one value per gauge."""

    def __init__(self, rows: LiteralString, *gauges: Gauge, may_sleep: bool = False) -> None:
        self.rows = rows
        self.may_sleep = may_sleep  # its rows alone do not cause another read
        self._gauges = gauges

    def replace(self, rows: list[tuple[Any, ...]]) -> None:
        """Replace all values; what is no longer in the ledger disappears from the metrics."""
        for place, gauge in enumerate(self._gauges, -len(self._gauges)):
            gauge.clear()
            for row in rows:
                gauge.labels(*row[: -len(self._gauges)]).set(row[place])


class Gauges:
    """Updates its series; while the ledger has nothing for them, it sleeps until the pulse wakes it."""

    def __init__(self, name: str, every: float, own: OwnSession, *series: Series) -> None:
        self.name = name
        self._every = every
        self._own = own
        self._series = series

    async def run_once(self) -> float | None:
        """Read all series, then update the metrics together."""
        async with self._own.session() as session:
            found = [(each, await session.rows(each.rows)) for each in self._series]
        for each, rows in found:
            each.replace(rows)
        return self._every if any(rows and not each.may_sleep for each, rows in found) else None


def queue_depth(own: OwnSession, metrics: MaintenanceMetrics) -> Gauges:
    """Depth and age by name and status; lanes by state, and dispatches in flight in lanes."""
    return Gauges(
        "queue depth",
        10.0,
        own,
        Series(QUEUE, metrics.depth, metrics.age),
        Series(LANES, metrics.lanes, may_sleep=True),
        Series(IN_FLIGHT, metrics.in_flight, may_sleep=True),
    )


def causes(own: OwnSession, metrics: MaintenanceMetrics) -> Gauges:
    """The number of causes by trend; read rarely, because it scans every failure in the inbox."""
    return Gauges("causes", 60.0, own, Series(CAUSES, metrics.causes))


def overdue(own: OwnSession, metrics: MaintenanceMetrics) -> Gauges:
    """Schedules that missed ticks and stuck campaigns, regardless of which conductor found them."""
    return Gauges(
        "overdue", 60.0, own, Series(MISSED, metrics.missed_ticks), Series(CAMPAIGNS, metrics.campaigns)
    )
