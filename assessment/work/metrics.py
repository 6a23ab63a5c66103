"""The worker's metrics for Prometheus, read from the shared state on each request."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from assessment.work.state import OUTCOMES, State
from assessment.work.verdict import heartbeat_age

PREFIX = "switchyard_assessment"


class StateCollector(Collector):
    def __init__(self, state: State, now: float) -> None:
        self._state, self._now = state, now

    def collect(self) -> Iterable[Metric]:
        state = self._state
        jobs = CounterMetricFamily(f"{PREFIX}_jobs", "Deliveries by outcome", labels=["outcome"])
        for outcome in OUTCOMES:
            jobs.add_metric([outcome], getattr(state, outcome))
        yield jobs
        yield CounterMetricFamily(f"{PREFIX}_busy_seconds", "Time spent on jobs", value=state.busy_seconds)
        yield _gauge("status", "-1 error, 0 stopped, 1 running", state.status)
        yield _gauge("queue_answers", "Whether the last poll of the queue succeeded", state.queue_answers)
        yield _gauge(
            "heartbeat_age_seconds",
            "Seconds since the work last made progress",
            heartbeat_age(state, self._now),
        )
        yield _gauge("task_expected_seconds", "The estimate of a long task", state.expected_duration)


def exposition(state: State, now: float) -> bytes:
    registry = CollectorRegistry()
    registry.register(StateCollector(state, now))
    return generate_latest(registry)


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(f"{PREFIX}_{name}", about, value=value)
