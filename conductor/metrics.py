"""What the conductor shows to Prometheus; the labels are action names, statuses and outcomes, all few."""

from switchyard.process.metrics import Metrics


class ConductorMetrics:
    """The conductor's metrics in one registry."""

    def __init__(self, metrics: Metrics | None = None) -> None:
        made = metrics or Metrics("conductor")
        by_name = ("action_name",)
        self.registry = made.registry
        self.claims = made.counter("claims", "Actions claimed", by_name)
        self.dispatches = made.counter(
            "dispatches", "Dispatches by what was written of them", ("action_name", "status")
        )
        self.dispatch_seconds = made.histogram("dispatch_seconds", "How long a dispatch took", by_name)
        self.locks = made.gauge("locks_held", "Actions claimed and not yet settled", by_name)
        self.tokens = made.gauge("tokens", "Tokens in the bucket of this instance", by_name)
        self.breaker = made.gauge("breaker_rate_factor", "Share of the configured rate in force", by_name)
        self.reconnects = made.counter("listener_reconnects", "Sessions lost and opened anew", by_name)
        self.abandoned = made.counter("dispatches_abandoned", "Dispatches whose session was lost", by_name)
        self.held_up = made.gauge("writes_held_up", "1 while outcomes cannot be written", by_name)
        self.depth = made.gauge("queue_depth", "Actions that have not ended", ("action_name", "status"))
        self.age = made.gauge("queue_oldest_seconds", "Age of the oldest of them", ("action_name", "status"))
        self.paused = made.gauge("paused", "1 while nothing is claimed of the name", by_name)
        self.causes = made.gauge("inbox_causes", "Causes of the failures in the inbox", ("trend",))
        by_flow = ("action_name", "flow")
        self.in_flight = made.gauge(
            "flow_in_flight", "In flight in the whole fleet, of names with limits", by_flow
        )
        self.lanes = made.gauge("lanes", "Lanes of names with limits", (*by_flow, "state"))
        self.lost = made.counter("workers_lost", "Workers marked lost by this instance", ("kind",))
        self.days_ahead = made.gauge("partitions_days_ahead", "Days until the partitions run out")
        by_schedule = ("schedule",)
        self.ticks = made.counter(
            "schedule_ticks", "Actions that this instance submitted for schedules", by_schedule
        )
        self.missed_ticks = made.counter(
            "schedule_missed_ticks", "Ticks that did not fire in time", by_schedule
        )
        self.late_schedules = made.gauge("schedules_late", "Schedules with a tick due for more than a minute")
