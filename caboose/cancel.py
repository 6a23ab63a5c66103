"""Stopping what runs for nobody: its action was cancelled, timed out, ended otherwise or is at a later run.

Level-triggered: it is asked again for as long as the execution is seen to run, whenever it turns up, so a
create that was on its way when the thread ended does no harm. A cancel rings; without the bell the next
pass sees it.
"""

from collections.abc import Callable
from uuid import UUID

import psycopg

from caboose.ledger import Event, Ledger, Thread
from caboose.metrics import CabooseMetrics
from switchyard.errors import DatabaseUnavailable
from switchyard.ledger.connect import connect
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger
from switchyard.sources import Observation, Source
from switchyard.status import Status

log = get_logger(__name__)

REMEMBERED = 10_000
LISTEN = 30.0


class Stopper:
    """Stops one source's executions, and notes it once for each."""

    def __init__(self, source: Source, metrics: CabooseMetrics) -> None:
        self._source = source
        self._metrics = metrics
        self._noted: dict[tuple[UUID, int], None] = {}

    async def stop(self, ledger: Ledger, seen: Observation, reason: str, *, known: bool) -> None:
        """Ask the backend; `known`: there is a thread to note it on."""
        await self._source.stop_execution(seen.uuid, seen.run, reason)
        if (seen.uuid, seen.run) in self._noted:
            return
        log.info("stopped an execution", source=self._source.name, action_uuid=str(seen.uuid), reason=reason)
        self._metrics.stopped.labels(self._source.name).inc()
        if known:
            await ledger.insert_events([stopped(seen.uuid, seen.run, reason)])
        self._noted[seen.uuid, seen.run] = None
        if len(self._noted) > REMEMBERED:
            del self._noted[next(iter(self._noted))]


def stopped(uuid: UUID, run: int, reason: str) -> Event:
    """The note that an execution was asked to stop."""
    return Event(uuid, run, Status.INFO, None, None, {"note": f"its execution was asked to stop: {reason}"})


def why(seen: Observation, thread: Thread | None) -> str:
    """Why nobody waits for it any more."""
    if thread is None:
        return "its action is gone from the ledger"
    if seen.run < thread.run:
        return f"its action is at run {thread.run}"
    return f"its action ended {thread.status}"


class Ears:
    """Hears the bell that `cancel` rings. Latency, never correctness."""

    name = "listen for cancels"

    def __init__(self, url: str, wake: Callable[[], None]) -> None:
        self._url = url
        self._wake = wake

    async def run_once(self) -> float | None:
        """Listen for a while on a connection of its own; a lost one is replaced, and counts as a bell."""
        self._wake()
        try:
            connection = await connect(self._url, application_name="caboose listen")
            async with connection:
                await connection.execute(query("caboose", "listen"))
                while True:
                    async for _ in connection.notifies(timeout=LISTEN, stop_after=1):
                        self._wake()
                    await connection.execute(query("caboose", "round_trip"))
        except psycopg.OperationalError as error:
            raise DatabaseUnavailable(str(error)) from error
