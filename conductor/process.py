"""The conductor as a process: its crews, its loops, its health, and the configuration they stand on."""

import asyncio
import gc
import os
import socket
from collections.abc import Collection, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from conductor.dispatch.threads import ThreadsPerName
from conductor.maintenance.config_watch import ConfigWatch
from conductor.maintenance.lost_workers import LostWorkers
from conductor.maintenance.own_session import OwnSession
from conductor.maintenance.partitions import PartitionCare
from conductor.maintenance.queue_depth import QueueDepth
from conductor.maintenance.unknown_names import UnknownNames
from conductor.metrics import ConductorMetrics
from conductor.registry import Identity
from conductor.session.open import refuse_pooling
from conductor.worker.pool import WorkerPool
from conductor.worker.worker import WorkerContext
from switchyard.config.config import Config
from switchyard.config.load import load
from switchyard.errors import ConfigError, SwitchyardError
from switchyard.handlers import HandlerContext
from switchyard.process.health import HealthServer
from switchyard.process.log import get_logger
from switchyard.process.loop import Loop, Runner
from switchyard.store import open_store

log = get_logger(__name__)

ZONE = "SWITCHYARD_ZONE"
YOUNG = 20_000  # new objects before a collection; a full house of dispatches holds more than the usual 700


class ConductorProcess:
    """Runs what a configuration names until it is stopped; a new configuration replaces what it changes."""

    def __init__(self, config: Config, path: Path, names: Collection[str] = ()) -> None:
        self._config = config
        self._path = path
        self._only = frozenset(names)
        self._metrics = ConductorMetrics()
        self._pools: dict[str, WorkerPool] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._runners: list[Runner] = []
        self._stopped = asyncio.Event()
        self._watch = ConfigWatch(path, self._reload)
        self._problem: str | None = None

    def stop(self) -> None:
        """Claim nothing more, finish within the grace."""
        for pool in self._pools.values():
            pool.stop()
        self._stopped.set()
        log.info("stopping", grace=self._config.conductor.grace)

    def reload(self) -> None:
        """Read the configuration again."""
        self._watch.ask()
        for runner in self._runners:
            if runner.name == self._watch.name:
                runner.wake()

    async def run(self) -> None:
        """Until `stop()`; raises what makes it impossible to go on."""
        asyncio.get_running_loop().set_default_executor(ThreadsPerName())
        url = self._config.database.conninfo()
        await refuse_pooling(url)
        own = OwnSession(url)
        try:
            async with self._health():
                await self._start(self._config, self._served_names(self._config))
                gc.freeze()  # what is there by now stays: no collection needs to walk it in mid-dispatch
                gc.set_threshold(YOUNG)
                await self._run_loops(own)
        finally:
            await self._stop_crews()
            await own.close()

    async def once(self) -> None:
        """One pass over what is due: every name until nothing more of it is."""
        asyncio.get_running_loop().set_default_executor(ThreadsPerName())
        await refuse_pooling(self._config.database.conninfo())
        await self._start(self._config, self._served_names(self._config), once=True)
        try:
            await asyncio.gather(*(pool.join() for pool in self._pools.values()))
        finally:
            await self._stop_crews()

    def alive(self) -> bool:
        """Nothing of it has ended or stalled."""
        return all(runner.alive() for runner in self._runners) and all(p.alive for p in self._pools.values())

    async def ready(self) -> Mapping[str, bool | str]:
        """Whether every worker has a session, and the file's configuration is the one in force."""
        missing = sorted(name for name, pool in self._pools.items() if not pool.serving)
        return {
            "database": True if not missing else f"no session yet for {', '.join(missing[:5])}",
            "configuration": self._problem or True,
        }

    def _health(self) -> AbstractAsyncContextManager[object]:
        health = self._config.conductor.health
        if health.port is None:
            return nullcontext()
        return HealthServer(
            "conductor", health.host, health.port, self.alive, self.ready, self._metrics.registry
        )

    def _served_names(self, config: Config) -> list[str]:
        unknown = sorted(self._only - set(config.actions))
        if unknown:
            raise ConfigError(f"the configuration has no action named {', '.join(unknown)}")
        return [name for name in config.actions if not self._only or name in self._only]

    async def _run_loops(self, own: OwnSession) -> None:
        config, metrics = self._config, self._metrics
        loops: list[Loop] = [
            LostWorkers(own, config.workers, metrics),
            UnknownNames(own, lambda: self._config),
            QueueDepth(own, metrics),
            PartitionCare(own, config.partitions, metrics),
            self._watch,
        ]
        self._runners = [Runner(loop) for loop in loops]
        tasks = [asyncio.create_task(runner.run()) for runner in self._runners]
        try:
            await self._until_stopped(tasks)
        finally:
            for runner in self._runners:
                runner.stop()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _until_stopped(self, tasks: list[asyncio.Task[None]]) -> None:
        """Return at the stop; raise what ends a loop or a crew before."""
        stop = asyncio.create_task(self._stopped.wait())
        try:
            while not stop.done():
                working = [task for pool in self._pools.values() for task in pool.tasks]
                done, _ = await asyncio.wait(
                    [stop, *tasks, *working], timeout=1.0, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done - {stop}:
                    task.result()
        finally:
            stop.cancel()

    async def _start(self, config: Config, names: Collection[str], *, once: bool = False) -> None:
        """Start crews for these names; those they replace finish what they have in flight."""
        shared = WorkerContext(
            config.database.conninfo(),
            config.conductor,
            config.workers,
            Identity(socket.gethostname(), os.environ.get(ZONE), config.fingerprint()),
            once,
        )
        context = HandlerContext(config, open_store(config.store), config.secrets)
        fresh = {
            name: WorkerPool(name, config.actions[name], shared, context, self._metrics) for name in names
        }
        for name, pool in fresh.items():
            await pool.start()
            self._leave(self._pools.get(name))
            self._pools[name] = pool

    async def _reload(self) -> None:
        """Take over what the file says now, or keep what is in force and say why."""
        try:
            config = await asyncio.to_thread(load, self._path)
            wanted = self._served_names(config)
            await self._start(config, [name for name in wanted if self._differs(config, name)])
        except SwitchyardError as error:
            self._problem = f"the file was changed but not taken over: {error}"
            log.warning("the configuration stays as it was", error=str(error))
            return
        for name in set(self._pools) - set(wanted):
            self._leave(self._pools.pop(name))
        self._config, self._problem = config, None
        log.info("the configuration was read again", fingerprint=config.fingerprint()[:12])

    def _differs(self, config: Config, name: str) -> bool:
        old = self._config
        shared = ("database", "store", "conductor", "workers", "workflows", "secrets", "correlation_header")
        return (
            name not in self._pools
            or old.actions.get(name) != config.actions[name]
            or any(getattr(old, part) != getattr(config, part) for part in shared)
        )

    def _leave(self, pool: WorkerPool | None) -> None:
        if pool is not None:
            pool.stop()
            task = asyncio.create_task(pool.join())
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)

    async def _stop_crews(self) -> None:
        for name in list(self._pools):
            self._leave(self._pools.pop(name))
        await asyncio.gather(*self._leaving, return_exceptions=True)
