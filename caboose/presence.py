"""Caboose's own row among the workers: there before it works, beating while it lives, closed when it ends."""

import asyncio
import json
import os
import socket
import time
from uuid import UUID

from caboose.metrics import CabooseMetrics
from caboose.queries import Queries
from switchyard import __version__
from switchyard.config.config import Config
from switchyard.errors import SwitchyardError
from switchyard.process.log import get_logger

log = get_logger(__name__)


class Presence:
    """The loop that beats, until the row was marked lost: then somebody else may have the work already."""

    name = "presence"

    def __init__(
        self, worker: UUID, queries: Queries, config: Config, metrics: CabooseMetrics, *, serves: list[str]
    ) -> None:
        self.worker = worker
        self._queries = queries
        self._config = config
        self._metrics = metrics
        self._state = json.dumps({"serves": serves})
        self._began = time.monotonic()
        self._beaten = float("-inf")
        self.lost = asyncio.Event()

    @property
    def fresh(self) -> bool:
        """Whether the database took a beat lately."""
        return time.monotonic() - self._beaten < 3 * self._config.workers.beat

    async def register(self) -> None:
        """Write the row."""
        await self._queries.change(
            "register",
            {
                "worker": self.worker,
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "version": __version__,
                "config_hash": self._config.fingerprint(),
                "state": self._state,
            },
        )
        self._beaten = time.monotonic()

    async def run_once(self) -> float | None:
        """One beat."""
        done, failed = self._metrics.ends_by_success()
        rate = round((done + failed) / max(time.monotonic() - self._began, 1.0), 3)
        values = {"worker": self.worker, "done": done, "failed": failed, "rate": rate}
        if not await self._queries.change("beat", values):
            log.error("this caboose was marked lost: it starts again under a new id", worker=str(self.worker))
            self.lost.set()
            return None
        self._beaten = time.monotonic()
        return self._config.workers.beat

    async def end(self) -> None:
        """Close the row; where the database is away, the row counts as lost, and that is all."""
        try:
            await self._queries.change("end_worker", {"worker": self.worker})
        except SwitchyardError as error:
            log.warning("the worker's row could not be closed", error=str(error))
