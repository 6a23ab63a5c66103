"""The conductor program: its worker pools, its maintenance loops and their configuration.

A name whose handler cannot be started (a secret that is gone, a backend that does not answer) is not served,
reported by /readyz and tried again; the other names are served. At the first start at least one has to work.
"""

import asyncio
import gc
import os
import socket
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress

from conductor.dispatch.threads import ThreadsPerName
from conductor.maintenance.clock import ClockCare
from conductor.maintenance.gauges import causes, overdue, queue_depth
from conductor.maintenance.lost_workers import LostWorkers
from conductor.maintenance.own_session import OwnSession
from conductor.maintenance.partitions import PartitionCare
from conductor.maintenance.pauses import Pauses
from conductor.maintenance.pulse import Pulse
from conductor.maintenance.routes import Announcement, Routes
from conductor.maintenance.settle import Settle
from conductor.maintenance.ticks import Ticks
from conductor.maintenance.unserved_names import UnknownNames, Unserved
from conductor.metrics import ConductorMetrics
from conductor.registry import Identity
from conductor.resting import Resting
from conductor.session.open import LOCK_TIMEOUT, refuse_pooling
from conductor.worker.connections import Connections, Lookout
from conductor.worker.pool import WorkerPool
from conductor.worker.worker import WorkerContext
from switchyard.config.config import Config
from switchyard.errors import ConfigError, SwitchyardError, Transient
from switchyard.handlers import HandlerContext
from switchyard.process.idle import idle_pause
from switchyard.process.log import get_logger
from switchyard.process.loop import Loop, Runner
from switchyard.process.metrics import Metrics
from switchyard.store import open_store

log = get_logger(__name__)

ZONE = "SWITCHYARD_ZONE"
YOUNG = 20_000  # new objects before a collection; a full house of dispatches holds more than the usual 700
STARTS_WITHIN = 30.0  # a handler that takes longer is tried again later


class ConductorProcess:
    """Runs the configured action names until stopped; a new configuration restarts only what it changes."""

    name = "conductor"

    def __init__(self, config: Config, names: Collection[str] = ()) -> None:
        self._config = config
        self._only = frozenset(names)
        self.made = Metrics(self.name)
        self._metrics = ConductorMetrics(self.made)
        self._pools: dict[str, WorkerPool] = {}
        self._unserved: dict[str, SwitchyardError] = {}
        self._connections = Connections(config.conductor.connections)
        self._resting = Resting(_pulse(config))
        self._own = OwnSession(config.database.conninfo())
        self._leaving: set[asyncio.Task[None]] = set()
        self._runners: list[Runner] = []
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """Stop claiming; finish within the grace period."""
        for pool in self._pools.values():
            pool.stop()
        self._stopped.set()
        log.info("stopping", grace=self._config.conductor.grace)

    async def run(self) -> None:
        """Run until `stop()`; raises fatal errors."""
        await self._started()
        try:
            gc.freeze()  # what is there by now stays: no collection needs to walk it in mid-dispatch
            gc.set_threshold(YOUNG)
            await self._run_loops()
        finally:
            await self._stop_pools()
            await self._own.close()

    async def once(self) -> None:
        """Dispatch everything that is due, for every name, and return."""
        await self._started(once=True)
        try:
            await asyncio.gather(*(pool.join() for pool in self._pools.values()))
        finally:
            await self._stop_pools()
            await self._own.close()

    async def apply(self, config: Config) -> None:
        """Apply a new configuration; an action name that cannot be restarted continues with the old one."""
        wanted = self._served_names(config)
        changed = [name for name in wanted if self._differs(config, name)]
        old, self._config = self._config, config
        try:
            self._unserved = {}
            await self._start(changed)
        except SwitchyardError:
            self._config = old
            raise
        for name in set(self._pools) - set(wanted):
            self._leave(self._pools.pop(name))
        self._wake(Routes.name)

    def dispatched(self) -> dict[str, int]:
        """The number of dispatches recorded so far, by status."""
        found: Counter[str] = Counter()
        for family in self._metrics.dispatch.dispatches.collect():
            for sample in family.samples:
                if sample.name.endswith("_total") and sample.value:
                    found[sample.labels["status"]] += int(sample.value)
        return dict(sorted(found.items()))

    def alive(self) -> bool:
        """Whether no part has ended or stalled."""
        return all(runner.alive() for runner in self._runners) and all(p.alive for p in self._pools.values())

    async def ready(self) -> Mapping[str, bool | str]:
        """Whether every name is served, and every worker has a session."""
        missing = sorted(name for name, pool in self._pools.items() if not pool.serving)
        unserved = "; ".join(f"{name}: {error}" for name, error in sorted(self._unserved.items())[:5])
        return {
            "database": True if not missing else f"no session yet for {', '.join(missing[:5])}",
            "actions": f"not served: {unserved}" if unserved else True,
        }

    def _served_names(self, config: Config) -> list[str]:
        unknown = sorted(self._only - set(config.actions))
        if unknown:
            raise ConfigError(f"the configuration has no action named {', '.join(unknown)}")
        return [name for name in config.actions if not self._only or name in self._only]

    async def _started(self, *, once: bool = False) -> None:
        """Start everything that is configured; raises the first problem if nothing can be started."""
        asyncio.get_running_loop().set_default_executor(ThreadsPerName())
        await refuse_pooling(self._config.database.conninfo())
        await self._start(self._served_names(self._config), once=once)
        if self._unserved and (once or not self._pools):
            await self._stop_pools()
            raise next(iter(self._unserved.values()))

    async def _run_loops(self) -> None:
        config, own, metrics = self._config, self._own, self._metrics.maintenance
        url = config.database.conninfo()
        limits = {"lock_timeout": LOCK_TIMEOUT, "statement_timeout": "10s"}
        settle = Settle(own, OwnSession(url, **limits), metrics)
        ticks = Ticks(own, OwnSession(url, **limits), metrics)
        loops: list[Loop] = [
            LostWorkers(own, config.workers, metrics),
            UnknownNames(own, lambda: self._config),
            Pauses(own, metrics),
            queue_depth(own, metrics),
            causes(own, metrics),
            overdue(own, metrics),
            ClockCare(own),
            PartitionCare(own, config.partitions, metrics),
            Routes(own, lambda: (self._config, set(self._pools))),
            ticks,
            settle,
            Pulse(own, self._resting, self._wake_sleeping),
            Unserved(lambda: self._start(list(self._unserved))),
        ]
        self._runners = [Runner(loop) for loop in loops]
        own.on_change = lambda: self._wake(Ticks.name, Settle.name)
        tasks = [asyncio.create_task(runner.run()) for runner in self._runners]
        try:
            await self._until_stopped(tasks)
        finally:
            for runner in self._runners:
                runner.stop()
            await asyncio.gather(*tasks, return_exceptions=True)
            await settle.close()
            await ticks.close()

    def _wake_sleeping(self, *names: str) -> None:
        self._wake(*(runner.name for runner in self._runners if runner.asleep and runner.name in names))

    def _wake(self, *names: str) -> None:
        for runner in self._runners:
            if runner.name in names:
                runner.wake()

    async def _until_stopped(self, tasks: list[asyncio.Task[None]]) -> None:
        """Return when stopped; raise the error that ended a loop or a worker."""
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

    async def _start(self, names: Collection[str], *, once: bool = False) -> None:
        """Start pools for these names; replaced pools finish what they have in flight."""
        if not names:
            return
        config = self._config
        shared = WorkerContext(
            config.database.conninfo(),
            config.conductor,
            config.workers,
            Identity(socket.gethostname(), os.environ.get(ZONE), config.fingerprint()),
            once,
            self._connections,
            Lookout(config.database.conninfo(), config.workers.beat),
            None if once else self._resting,
            Announcement(self._own, config).of,
        )
        self._connections.resize(config.conductor.connections)
        self._resting.seconds = _pulse(config)
        context = HandlerContext(config, open_store(config.store), config.secrets)
        await asyncio.gather(*(self._start_one(name, shared, context) for name in names))

    async def _start_one(self, name: str, shared: WorkerContext, context: HandlerContext) -> None:
        try:
            pool = await self._begun(name, shared, context)
        except SwitchyardError as error:
            if str(self._unserved.get(name)) != str(error):
                log.error("an action name is not served", action=name, error=str(error))  # noqa: TRY400 - it says all
            self._unserved[name] = error
            return
        self._unserved.pop(name, None)
        self._leave(self._pools.get(name))
        self._pools[name] = pool

    async def _begun(self, name: str, shared: WorkerContext, context: HandlerContext) -> WorkerPool:
        pool = WorkerPool(name, context.config.actions[name], shared, context, self._metrics)
        try:
            async with asyncio.timeout(STARTS_WITHIN):
                await pool.start()
        except BaseException as error:
            with suppress(Exception):
                await pool.join()
            if isinstance(error, TimeoutError):
                raise Transient(f"its handler did not start within {STARTS_WITHIN:g} s") from error
            if isinstance(error, Exception) and not isinstance(error, SwitchyardError):
                raise ConfigError(f"its handler cannot be started: {error!r}") from error
            raise
        return pool

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

    async def _stop_pools(self) -> None:
        for name in list(self._pools):
            self._leave(self._pools.pop(name))
        await asyncio.gather(*self._leaving, return_exceptions=True)


def _pulse(config: Config) -> float:
    """Seconds between two polls for work without a notification."""
    return min(config.conductor.poll, idle_pause(config.workers.beat))
