"""Workflows without an end within their timeout become TIMED_OUT; the due sweep then stops them."""

from collections.abc import Callable

from caboose.complete.services import Services
from caboose.queries import Queries
from caboose.rows import Event, Overdue
from caboose.scope import Scope
from switchyard.config.units import format_duration
from switchyard.process.log import get_logger
from switchyard.status import Status

log = get_logger(__name__)


class Timeouts:
    """The loop that records TIMED_OUT; of two ends at the same moment the row lock picks one."""

    name = "timeouts"

    def __init__(self, queries: Queries, scope: Scope, services: Services, wake: Callable[[], None]) -> None:
        self._queries = queries
        self._scope = scope
        self._services = services
        self._wake = wake

    async def run_once(self) -> float | None:
        """One batch."""
        config = self._services.config
        limits = {name: workflow.timeout for name, workflow in config.workflows.items()}
        share = self._scope.not_ours, self._scope.shard.buckets
        overdue = await self._queries.overdue(limits, *share, config.caboose.batch)
        if not overdue:
            return config.caboose.poll
        await self._queries.insert_events([_event(each) for each in overdue])
        for each in overdue:
            log.warning(
                "a workflow timed out", action_uuid=str(each.uuid), run=each.run, workflow=each.workflow
            )
        self._services.metrics.timed_out.inc(len(overdue))
        self._wake()
        return 0.0


def _event(each: Overdue) -> Event:
    error = f"no end within {format_duration(each.seconds)}"
    return Event(each.uuid, each.run, Status.TIMED_OUT, error)
