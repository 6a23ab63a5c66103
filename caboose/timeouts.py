"""Workflows that never report an end within their timeout become TIMED_OUT; the due sweep then stops them."""

from collections.abc import Callable

from caboose.ledger import Event, Ledger, Overdue
from caboose.means import Means
from caboose.territory import Territory
from switchyard.config.units import format_duration
from switchyard.process.log import get_logger
from switchyard.status import Status

log = get_logger(__name__)


class Timeouts:
    """The loop that ends what nobody ended; of two ends at the same moment the row lock picks one."""

    name = "timeouts"

    def __init__(self, ledger: Ledger, territory: Territory, means: Means, wake: Callable[[], None]) -> None:
        self._ledger = ledger
        self._territory = territory
        self._means = means
        self._wake = wake

    async def run_once(self) -> float | None:
        """One batch."""
        config = self._means.config
        limits = {name: workflow.timeout for name, workflow in config.workflows.items()}
        share = self._territory.not_ours, self._territory.shard.buckets
        overdue = await self._ledger.overdue(limits, *share, config.caboose.batch)
        if not overdue:
            return config.caboose.poll
        await self._ledger.insert_events([_event(each) for each in overdue])
        for each in overdue:
            log.warning(
                "a workflow timed out", action_uuid=str(each.uuid), run=each.run, workflow=each.workflow
            )
        self._means.metrics.timed_out.inc(len(overdue))
        self._wake()
        return 0.0


def _event(each: Overdue) -> Event:
    error = f"no end within {format_duration(each.seconds)}"
    return Event(each.uuid, each.run, Status.TIMED_OUT, error)
