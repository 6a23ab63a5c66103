"""Caboose's worker row: registered before it starts work, closed when it ends.

Its heartbeat also checks whether any backend has executions and whether callbacks are due, and wakes the
sweeps that sleep. While there is neither, one heartbeat per minute is enough.

A caboose that stands by also looks at the heartbeats of the other cabooses: a leader that hangs keeps its
lock until its sessions are terminated, and there may be no conductor to do that.
"""

import asyncio
import json
import os
import socket
from collections.abc import Callable
from uuid import UUID

from caboose.metrics import CabooseMetrics
from caboose.queries import Queries
from switchyard import __version__
from switchyard.config.config import Config
from switchyard.errors import SwitchyardError
from switchyard.ledger.queries import query
from switchyard.process.heartbeat import Heartbeat
from switchyard.process.idle import idle_pause
from switchyard.process.log import get_logger
from switchyard.process.silence import Silence

log = get_logger(__name__)


class Presence:
    """The heartbeat loop; ends when the row is marked lost."""

    name = "presence"

    def __init__(
        self,
        worker: UUID,
        queries: Queries,
        config: Config,
        metrics: CabooseMetrics,
        *,
        serves: list[str],
        stands_by: Callable[[], bool] = lambda: False,
        wake: Callable[[bool, bool], None] = lambda _handed_over, _due: None,
    ) -> None:
        self._queries = queries
        self._config = config
        self._metrics = metrics
        self._serves = serves
        self._stands_by = stands_by
        self._wake = wake
        self._idle = False
        self._silence = Silence(config.workers.beat)
        self._heartbeat = Heartbeat(
            worker, config.workers.beat, queries.run, statement=query("caboose", "pulse")
        )
        self.lost = asyncio.Event()

    @property
    def fresh(self) -> bool:
        """Whether the database took a heartbeat lately."""
        return self._heartbeat.fresh

    async def register(self) -> None:
        """Write the row."""
        await self._queries.change(
            "register",
            {
                "worker": self._heartbeat.worker,
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "version": __version__,
                "config_hash": self._config.fingerprint(),
                "state": json.dumps({"serves": self._serves}),
            },
        )

    async def run_once(self) -> float | None:
        """Send one heartbeat; a standby also checks the heartbeats of the others."""
        beat = self._heartbeat
        beat.done, beat.failed = self._metrics.ends_by_success()
        workers = self._config.workers
        standby = self._stands_by()
        rests = (
            idle_pause(min(workers.beat, self._config.caboose.poll)) if self._idle and not standby else 0.0
        )
        found = await beat.beat(rests=rests)
        if not found:
            log.error("this caboose was marked lost: it starts again under a new id", worker=str(beat.worker))
            self.lost.set()
            return None
        [(handed_over, due)] = found
        self._idle = not (handed_over or due)
        self._wake(handed_over, due)
        if standby:
            await self._silence.mark_lost(self._queries.run, workers.lost_after, "caboose")
        return rests if rests and self._idle else workers.beat

    async def end(self) -> None:
        """Close the row; if the database is unavailable, the row is later marked lost, without harm."""
        try:
            await self._heartbeat.end()
        except SwitchyardError as error:
            log.warning("the worker's row could not be closed", error=str(error))
