"""Caboose's metrics."""

from switchyard.process.metrics import Metrics
from switchyard.status import Status


class CabooseMetrics:
    """The metrics of one process, labelled by source and status (few values each)."""

    def __init__(self, made: Metrics | None = None) -> None:
        metrics = made or Metrics("caboose")
        self.registry = metrics.registry
        self.observed = metrics.counter("observations", "Observations reported by sources", ["source"])
        self.ends = metrics.counter("ends", "Ends recorded", ["source", "status"])
        self.forgotten = metrics.counter("forgotten", "Executions deleted or acknowledged", ["source"])
        self.stopped = metrics.counter("stops", "Executions asked to stop", ["source"])
        self.called_back = metrics.counter("called_back", "Ends whose callbacks were made by the sweep")
        self.timed_out = metrics.counter("timed_out", "Workflows that passed their timeout")
        self.notices = metrics.counter("notices", "Things put into the inbox", ["kind"])
        self.waiting = metrics.gauge("waiting", "Ends that wait for the store or a lock", ["source"])
        self.archive_seconds = metrics.histogram("archive_seconds", "Writing one archive")
        self._done = self._failed = 0

    def ended(self, source: str, status: Status) -> None:
        """Count a recorded end."""
        self.ends.labels(source, status).inc()
        if status is Status.SUCCESSFUL:
            self._done += 1
        else:
            self._failed += 1

    def ends_by_success(self) -> tuple[int, int]:
        """The number of successful and of unsuccessful ends."""
        return self._done, self._failed
