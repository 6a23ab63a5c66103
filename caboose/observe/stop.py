"""Stops executions whose action was cancelled, timed out, ended otherwise or is at a later run.

Level-triggered: the stop is repeated for as long as the execution is observed to run, so a create that
was on its way when the thread ended does no harm.
"""

from uuid import UUID

from caboose.isolate import answered
from caboose.metrics import CabooseMetrics
from caboose.queries import Queries
from caboose.rows import Event, Thread
from switchyard.process.log import get_logger
from switchyard.sources import Observation, Source
from switchyard.status import Status

log = get_logger(__name__)

REMEMBERED = 10_000


class Stopper:
    """Stops the executions of one source, and records each stop once."""

    def __init__(self, source: Source, metrics: CabooseMetrics) -> None:
        self._source = source
        self._metrics = metrics
        self._recorded: dict[tuple[UUID, int], None] = {}

    async def stop(self, queries: Queries, seen: Observation, reason: str, *, known: bool) -> None:
        """Ask the backend to stop it; `known`: it has a thread, which gets an event."""
        await answered(self._source.stop_execution(seen.uuid, seen.run, reason))
        if (seen.uuid, seen.run) in self._recorded:
            return
        log.info("stopped an execution", source=self._source.name, action_uuid=str(seen.uuid), reason=reason)
        self._metrics.stopped.labels(self._source.name).inc()
        if known:
            await queries.insert_events([stopped(seen.uuid, seen.run, reason)])
        self._recorded[seen.uuid, seen.run] = None
        if len(self._recorded) > REMEMBERED:
            del self._recorded[next(iter(self._recorded))]


def stopped(uuid: UUID, run: int, reason: str) -> Event:
    """The event that records the stop of an execution."""
    return Event(uuid, run, Status.INFO, None, None, {"note": f"its execution was asked to stop: {reason}"})


def why(seen: Observation, thread: Thread | None) -> str:
    """The reason why the execution is no longer needed."""
    if thread is None:
        return "its action is gone from the ledger"
    if seen.run < thread.run:
        return f"its action is at run {thread.run}"
    return f"its action ended {thread.status}"
