"""A source of any backend on caboose's core, run until something is true."""

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from caboose.queries import Queries
from caboose.sweeps.reconcile import Pace, Reconcile
from switchyard.backends.registry import build_sources
from switchyard.config.config import Config
from switchyard.execution import WHOLE
from switchyard.sources import Source
from switchyard.store import open_store
from tests.integration.caboose.core import Core
from tests.parts.database import Database


class Observing(Core[Source]):
    """The one source of a configuration with a single action `run`."""

    def __init__(self, database: Database, folder: Path, config: Mapping[str, Any], **pace: float) -> None:
        made = Config.model_validate({**config, "caboose": {"poll": "100ms"}})
        store = open_store((folder / "store").as_uri())
        (served,) = build_sources(made, (), WHOLE, store)
        assert served.names == ("run",)
        self._queries = [Queries(database.url, f"test {number}") for number in range(3)]
        complete, due, reconcile = self._queries
        super().__init__(made, store, served.source, complete, due=due)
        self.reconcile = Reconcile(
            self.source, served.names, reconcile, self.intake, self.leader, Pace(**pace)
        )
        self._pump: asyncio.Task[float | None] | None = None

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
        for each in self._queries:
            await each.close()
        await asyncio.to_thread(self.services.close)
