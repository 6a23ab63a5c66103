"""Caboose as a program: one `Caboose` after the other, each with one configuration and one worker row.

Another one follows a reload, and a mark as lost: whoever was marked lost has dropped its connections and
registers again under a new id. Where the one with a new configuration does not come up, the last good
configuration is taken again.
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
    """What the frame runs."""

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
        """Until `stop()`; raises what makes it impossible to go on."""
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
        """Take nothing more in, finish what is in hand."""
        self._stopped = True
        self._current.stop()

    async def apply(self, config: Config) -> None:
        """Replace the running one; raises where the new one does not come up, and the old one runs again."""
        self._built(config)  # what cannot even be built need not interrupt anybody
        came_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._wanted = config, came_up
        self._current.stop()
        await came_up

    def alive(self) -> bool:
        """Nothing of it has ended or stalled."""
        return self._current.alive()

    async def ready(self) -> Mapping[str, bool | str]:
        """Whether the database and every source answer."""
        return await self._current.ready()

    def _next(self) -> Caboose:
        """With the configuration that is wanted, where it can be built; else with the last good one."""
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
