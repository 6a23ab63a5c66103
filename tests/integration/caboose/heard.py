"""A source, its intake and its completer, run until something is true."""

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from caboose.complete.completer import Completer
from caboose.complete.services import Services
from caboose.leader import Leader
from caboose.metrics import CabooseMetrics
from caboose.observe.intake import Intake
from caboose.queries import Queries
from caboose.scope import Scope
from caboose.sweeps.due_callbacks import DueCallbacks
from caboose.sweeps.reconcile import Pace, Reconcile
from switchyard.backends.registry import build_sources
from switchyard.config.config import Config
from switchyard.execution import WHOLE
from switchyard.store import open_store
from tests.parts.database import Database


class Heard:
    """The one source of a configuration with a single action `run`."""

    def __init__(self, database: Database, folder: Path, config: Mapping[str, Any], **pace: float) -> None:
        self.config = Config.model_validate({**config, "caboose": {"poll": "100ms"}})
        self.store = open_store((folder / "store").as_uri())
        self._pump: asyncio.Task[float | None] | None = None
        services = self.services = Services.of(self.config, self.store, random.Random(1), CabooseMetrics())
        (served,) = build_sources(self.config, (), WHOLE, self.store)
        self.source = served.source
        self.queries = [Queries(database.url, f"test {number}") for number in range(3)]
        leader = Leader(self.queries[0])
        self.intake = Intake(served.source, leader, 100)
        self.completer = Completer(served, self.intake, leader, self.queries[0], services)
        self.due = DueCallbacks(self.queries[1], Scope.of(self.config, {"run": self.source}, WHOLE), services)
        self.reconcile = Reconcile(
            self.source, served.names, self.queries[2], self.intake, leader, Pace(**pace)
        )

    async def start(self) -> None:
        """Observe from now on, without a break: a poll that is given up would hide what it brings."""
        if self._pump is None:
            self._pump = asyncio.create_task(self.intake.run_once())

    async def until(self, true: Callable[[], bool], seconds: float = 30.0) -> None:
        """Complete until it is true."""
        await self.start()
        deadline = time.monotonic() + seconds
        while not await asyncio.to_thread(true):
            assert time.monotonic() < deadline, f"not true within {seconds} s"
            assert self._pump is not None
            assert not self._pump.done(), self._pump
            await self.completer.run_once()
            await asyncio.sleep(0.02)

    async def until_ready(self) -> None:
        """Reconcile trusts a source only once it has seen all."""
        await self.until(lambda: asyncio.run(self.source.ready()))

    async def close(self) -> None:
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)
        await self.source.close()
        for each in self.queries:
            await each.close()
        await asyncio.to_thread(self.services.close)
