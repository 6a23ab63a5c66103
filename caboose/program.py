"""The caboose program: runs one `Caboose` after the other, each with one configuration and worker row.

A new one is started after a reload, and after being marked lost: then it drops its connections and
registers again under a new id. If the one with a new configuration does not start, the last good
configuration is used again.
"""

import asyncio
from collections.abc import Mapping, Sequence

from caboose.metrics import CabooseMetrics
from caboose.process import Caboose
from switchyard.config.config import Config
from switchyard.errors import ConfigError, SwitchyardError
from switchyard.execution import Shard
from switchyard.process.log import get_logger
from switchyard.process.metrics import Metrics

log = get_logger(__name__)


class CabooseProgram:
    """The program that the frame runs."""

    name = "caboose"

    def __init__(self, config: Config, kinds: Sequence[str], shard: Shard) -> None:
        self.made = Metrics(self.name)
        self._metrics = CabooseMetrics(self.made)
        self._kinds, self._shard = kinds, shard
        self._good = config
        self._current = self._built(config)
        self._wanted: tuple[Config, asyncio.Future[None]] | None = None
        self._stopped = False

    async def run(self) -> None:
        """Run until `stop()`; raises fatal errors."""
        while True:
            try:
                await self._current.serve()
            except SwitchyardError as error:
                if self._wanted is None:
                    raise
                self._refuse(error)
            if self._stopped:
                return
            self._current = self._next()

    def stop(self) -> None:
        """Stop taking observations; finish those in progress."""
        self._stopped = True
        self._current.stop()

    async def apply(self, config: Config) -> None:
        """Replace the running caboose; raises if the new one does not start, and the old one runs again."""
        self._built(config)  # what cannot even be built need not interrupt anybody
        came_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._wanted = config, came_up
        self._current.stop()
        await came_up

    def alive(self) -> bool:
        """Whether no part has ended or stalled."""
        return self._current.alive()

    async def ready(self) -> Mapping[str, bool | str]:
        """Whether the database and every source answer."""
        return await self._current.ready()

    def _next(self) -> Caboose:
        """The next caboose: with the new configuration if it is usable, else with the last good one."""
        if self._wanted is not None:
            try:
                following = self._built(self._wanted[0])
            except SwitchyardError as error:
                self._refuse(error)
            else:
                following.on_up = self._accept
                return following
        return self._built(self._good)

    def _accept(self) -> None:
        if self._wanted is not None:
            self._good, came_up = self._wanted
            self._wanted = None
            if not came_up.done():
                came_up.set_result(None)

    def _refuse(self, error: SwitchyardError) -> None:
        assert self._wanted is not None
        _, came_up = self._wanted
        self._wanted = None
        if not came_up.done():
            came_up.set_exception(ConfigError(f"caboose does not start with it: {error}"))

    def _built(self, config: Config) -> Caboose:
        return Caboose(config, self._kinds, self._shard, self._metrics)
