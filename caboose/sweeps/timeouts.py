"""Records TIMED_OUT for workflows that exceed their timeout; the due sweep then stops them."""

from collections.abc import Callable, Sequence

from caboose.complete.services import Services
from caboose.isolate import NOT_ABOUT_A_CASE, without_locked
from caboose.queries import START, Page, Queries
from caboose.rows import Event, Overdue
from caboose.scope import Scope
from switchyard.config.units import format_duration
from switchyard.process.log import get_logger
from switchyard.status import Status

log = get_logger(__name__)


class Timeouts:
    """The loop that records TIMED_OUT; the row lock decides between two simultaneous ends."""

    name = "timeouts"

    def __init__(self, queries: Queries, scope: Scope, services: Services, wake: Callable[[], None]) -> None:
        self._queries = queries
        self._scope = scope
        self._services = services
        self._wake = wake
        self._after = START  # how far this pass is

    async def run_once(self) -> float | None:
        """Process one page; a full page is followed by the next at once, the last one ends the pass."""
        config = self._services.config
        limits = {name: workflow.timeout for name, workflow in config.workflows.items()}
        page = Page(self._scope.not_ours, self._scope.shard.buckets, config.caboose.batch, self._after)
        overdue = await self._queries.overdue(page, limits)
        if await self._end(overdue):
            self._wake()
        if len(overdue) == config.caboose.batch:
            self._after = overdue[-1].uuid
            return 0.0
        self._after = START
        idle = not overdue and not await self._queries.any_handed_over()
        return None if idle else config.caboose.poll

    async def _end(self, overdue: Sequence[Overdue]) -> bool:
        """End workflows; returns whether any ended. Refused or locked ones are retried at the next pass."""
        if not overdue:
            return False
        try:
            ended = await without_locked(self._queries, self._insert, overdue, lambda each: each.uuid)
        except NOT_ABOUT_A_CASE:
            raise
        except Exception as error:  # noqa: BLE001 - whatever one row raises
            if len(overdue) == 1:
                log.warning("a timeout was refused", action_uuid=str(overdue[0].uuid), error=str(error))
                return False
            return any([await self._end([each]) for each in overdue])
        for each in ended:
            log.warning(
                "a workflow timed out", action_uuid=str(each.uuid), run=each.run, workflow=each.workflow
            )
        self._services.metrics.timed_out.inc(len(ended))
        return bool(ended)

    async def _insert(self, overdue: Sequence[Overdue]) -> None:
        await self._queries.insert_events([_event(each) for each in overdue])


def _event(each: Overdue) -> Event:
    error = f"no end within {format_duration(each.seconds)}"
    return Event(each.uuid, each.run, Status.TIMED_OUT, error)
