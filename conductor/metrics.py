"""Conductor's Prometheus metrics, labelled by action name, status and outcome (few values each)."""

from functools import cached_property

from prometheus_client import Gauge

from switchyard.process.metrics import Metrics

BY_NAME = ("action_name",)
BY_STATUS = ("action_name", "status")
BY_FLOW = ("action_name", "flow")


class ConductorMetrics:
    """All metrics in one registry: those of the workers and of the maintenance loops."""

    def __init__(self, metrics: Metrics | None = None) -> None:
        made = metrics or Metrics("conductor")
        self.registry = made.registry
        self.dispatch = DispatchMetrics(made)
        self.maintenance = MaintenanceMetrics(made)


class DispatchMetrics:
    """Metrics of dispatches, by action name."""

    def __init__(self, made: Metrics) -> None:
        self.claims = made.counter("claims", "Actions claimed", BY_NAME)
        self.dispatches = made.counter("dispatches", "Dispatches by the status that was recorded", BY_STATUS)
        self.seconds = made.histogram("dispatch_seconds", "Duration of dispatches", BY_NAME)
        self.locks = made.gauge("locks_held", "Actions claimed and not yet settled", BY_NAME)
        self.tokens = made.gauge("tokens", "Tokens in the bucket of this instance", BY_NAME)
        self.breaker = made.gauge("breaker_rate_factor", "Share of the configured rate in force", BY_NAME)
        self.reconnects = made.counter("listener_reconnects", "Sessions lost and opened again", BY_NAME)
        self.abandoned = made.counter("dispatches_abandoned", "Dispatches whose session was lost", BY_NAME)
        self.held_up = made.gauge("writes_held_up", "1 while outcomes cannot be written", BY_NAME)

    def of(self, name: str) -> "NameMetrics":
        return NameMetrics(self, name)


class NameMetrics:
    """The dispatch metrics of one action name, exported from the start (tokens only with a rate)."""

    def __init__(self, every: DispatchMetrics, name: str) -> None:
        self._every, self._name = every, name
        self.claims = every.claims.labels(name)
        self.seconds = every.seconds.labels(name)
        self.locks = every.locks.labels(name)
        self.breaker = every.breaker.labels(name)
        self.reconnects = every.reconnects.labels(name)
        self.abandoned = every.abandoned.labels(name)
        self.held_up = every.held_up.labels(name)

    @cached_property
    def tokens(self) -> Gauge:
        return self._every.tokens.labels(self._name)

    def recorded(self, status: str, times: int) -> None:
        """Count dispatches that ended in an event of that status."""
        self._every.dispatches.labels(self._name, status).inc(times)


class MaintenanceMetrics:
    """Metrics of the maintenance loops, and of the ledger as they see it."""

    def __init__(self, made: Metrics) -> None:
        self.depth = made.gauge("queue_depth", "Actions that have not ended", BY_STATUS)
        self.age = made.gauge("queue_oldest_seconds", "Age of the oldest open action", BY_STATUS)
        self.paused = made.gauge("paused", "1 while the action name is paused", BY_NAME)
        self.causes = made.gauge("inbox_causes", "Causes of the failures in the inbox", ("trend",))
        self.in_flight = made.gauge(
            "flow_in_flight", "In flight in the whole fleet, of names with limits", BY_FLOW
        )
        self.lanes = made.gauge("lanes", "Lanes of names with limits", (*BY_FLOW, "state"))
        self.lost = made.counter("workers_lost", "Workers marked lost by this instance", ("kind",))
        self.days_ahead = made.gauge("partitions_days_ahead", "Days until the partitions run out")
        self.reuse = made.counter(
            "reuse", "Actions of workflows with reuse, by what was decided of them", ("outcome",)
        )
        self.ticks = made.counter(
            "schedule_ticks", "Actions that this instance submitted for schedules", ("schedule",)
        )
        self.missed_ticks = made.gauge(
            "schedule_missed", "1 for an hour after ticks were found missed, else 0", ("schedule",)
        )
        self.campaigns = made.gauge("campaigns", "Campaigns that have not ended", ("state",))
        self.late_schedules = made.gauge("schedules_late", "Schedules with a tick due for more than a minute")
