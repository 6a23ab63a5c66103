"""Metrics of one program, named `switchyard_<program>_…`, with labels whose values are few and known."""

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from switchyard import __version__

# From a cached answer to a slow webhook; what takes longer is a workflow and has events.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
# A label with these would make a new time series for every action, and fill the server that stores them.
UNBOUNDED = frozenset(
    {"action_uuid", "uuid", "correlation_id", "idempotency_key", "url", "key", "error", "run"}
)


class Metrics:
    """Creates the metrics of one program in its own registry."""

    def __init__(self, program: str, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._prefix = f"switchyard_{program}"
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        Info("switchyard_build", "What is running", registry=self.registry).info(
            {"program": program, "version": __version__}
        )

    def counter(self, name: str, about: str, labels: Sequence[str] = ()) -> Counter:
        """A value that only grows; the exposition adds `_total`."""
        return Counter(self._named(name, labels), about, labels, registry=self.registry)

    def gauge(self, name: str, about: str, labels: Sequence[str] = ()) -> Gauge:
        """A value that goes up and down."""
        return Gauge(self._named(name, labels), about, labels, registry=self.registry)

    def histogram(
        self, name: str, about: str, labels: Sequence[str] = (), buckets: Sequence[float] = SECONDS
    ) -> Histogram:
        """A distribution of durations or sizes."""
        return Histogram(self._named(name, labels), about, labels, buckets=buckets, registry=self.registry)

    def _named(self, name: str, labels: Sequence[str]) -> str:
        endless = UNBOUNDED.intersection(labels)
        if endless:
            raise ValueError(f"metric {name!r}: the label {min(endless)!r} has no bound")
        return f"{self._prefix}_{name}"
