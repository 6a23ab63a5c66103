"""One caboose with one configuration: starts, watches and stops its loops in order."""

import asyncio
import math
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from uuid import uuid4

from caboose.complete.completer import Completer
from caboose.complete.services import Services
from caboose.leader import Leader
from caboose.metrics import CabooseMetrics
from caboose.observe.intake import Intake
from caboose.observe.listen import CancelListener
from caboose.presence import Presence
from caboose.queries import Queries
from caboose.scope import Scope
from caboose.sweeps.due_callbacks import DueCallbacks
from caboose.sweeps.reconcile import Pace, Reconcile
from caboose.sweeps.timeouts import Timeouts
from switchyard.backends.registry import build_sources
from switchyard.config.config import Config
from switchyard.execution import Shard
from switchyard.process.log import get_logger
from switchyard.process.loop import Loop, Runner, run_together
from switchyard.sources import ServedSource
from switchyard.store import open_store

log = get_logger(__name__)


class Caboose:
    """From `serve` to `stop`, or until its worker row was marked lost."""

    def __init__(self, config: Config, kinds: Sequence[str], shard: Shard, metrics: CabooseMetrics) -> None:
        self._config = config
        self._worker = uuid4()
        store = open_store(config.store)
        self._services = Services.of(config, store, random.Random(), metrics)  # noqa: S311 - spreads retries
        self._served = build_sources(config, kinds, shard, store)
        self._all_queries: list[Queries] = []
        self._recording = {served.source.name: self._candidate(served, shard) for served in self._served}
        sources = {name: served.source for served in self._served for name in served.names}
        leaders = {name: self._recording[each.source.name][1] for each in self._served for name in each.names}
        self._scope = Scope.of(config, sources, shard, leaders)
        self._presence = Presence(
            *(self._worker, self._queries("presence"), config, metrics),
            serves=sorted(sources),
            stands_by=self._stands_by,
            wake=self._wake_sleeping,
        )
        self.on_up: Callable[[], None] = lambda: None
        self._runners: list[Runner] = []
        self._listeners: list[Runner] = []
        self._sweeps: list[Runner] = []  # of what backends have
        self._due: Runner | None = None
        self._stopping = False

    async def serve(self) -> None:
        """Run until `stop`. The worker row exists before any work starts, and is closed after it ends."""
        async with AsyncExitStack() as stack:
            for queries in self._all_queries:
                stack.push_async_callback(queries.close)
            await self._presence.register()
            stack.push_async_callback(self._presence.end)
            for served in self._served:
                await served.source.start()
                stack.push_async_callback(served.source.close)
            stack.callback(self._services.close)
            self._wire()
            for queries in self._all_queries:
                stack.push_async_callback(queries.close)
            self.on_up()
            log.info("caboose is up", sources=[served.source.name for served in self._served])
            await self._run()
        log.info("caboose ended")

    def stop(self) -> None:
        """Stop taking observations; finish those in progress."""
        self._stopping = True
        for runner in self._runners:
            runner.stop()

    def _wire(self) -> None:
        due = self._due = self._runner(DueCallbacks(self._queries("due"), self._scope, self._services))
        timeouts = Timeouts(self._queries("timeouts"), self._scope, self._services, due.wake)
        self._sweeps = [self._runner(timeouts)]
        presence = self._runner(self._presence)
        self._listener(CancelListener(self._config.database.conninfo(), due.wake, presence.wake))
        for served in self._served:
            queries, leader = self._recording[served.source.name]
            intake = Intake(served.source, leader, 2 * self._config.caboose.batch)
            completer = Completer(served, intake, leader, queries, self._services)
            intake.on_arrival = partial(self._arrived, self._runner(completer), presence)
            self._listener(intake)
            self._sweeps.append(self._runner(self._reconcile(served, intake, leader)))

    def _candidate(self, served: ServedSource, shard: Shard) -> tuple[Queries, Leader]:
        """The recording session and its leader election: one per source, action names and shard."""
        name = served.source.name
        queries = self._queries(f"complete {name}")
        lock = " ".join([name, *sorted(served.names), str(shard)])
        return queries, Leader(queries, lock if served.source.one_observer else None)

    def _reconcile(self, served: ServedSource, intake: Intake, leader: Leader) -> Reconcile:
        queries = self._queries(f"reconcile {served.source.name}")
        return Reconcile(
            *(served.source, served.names, queries, intake, leader),
            Pace(served.grace, served.silent, served.every),
        )

    async def _run(self) -> None:
        """Run everything; at the end, listeners are cancelled, and runners finish their current step."""
        listening = [asyncio.create_task(listener.run()) for listener in self._listeners]
        working = asyncio.create_task(run_together(self._runners))
        lost = asyncio.create_task(self._presence.lost.wait())
        if self._stopping:  # asked before there was anything to stop
            self.stop()
        try:
            done, _ = await asyncio.wait([working, lost, *listening], return_when=asyncio.FIRST_COMPLETED)
            self.stop()
            if lost not in done:  # somebody else may have our work already: then nothing of it is finished
                await asyncio.wait([working], timeout=self._config.caboose.grace)
        finally:
            for task in (*listening, working, lost):
                task.cancel()
            await asyncio.gather(*listening, working, lost, return_exceptions=True)
        for task in done:
            task.result()

    def _runner(self, loop: Loop) -> Runner:
        runner = Runner(loop)
        self._runners.append(runner)
        return runner

    def _listener(self, loop: Loop) -> None:
        # It may wait for ever: that nothing comes does not mean that it is stuck.
        self._listeners.append(Runner(loop, stall_after=math.inf))

    def _queries(self, name: str) -> Queries:
        # Whoever marks this worker lost ends the connections that bear its id.
        queries = Queries(self._config.database.conninfo(), f"caboose {self._worker} {name}")
        self._all_queries.append(queries)
        return queries

    def _arrived(self, completer: Runner, presence: Runner) -> None:
        """A backend has executions again: wake completion and the sweeps."""
        completer.wake()
        if any(sweep.asleep for sweep in self._sweeps):
            self._wake_sleeping(handed_over=True)
            presence.wake()

    def _wake_sleeping(self, handed_over: bool, due: bool = False) -> None:
        for runner in self._sweeps if handed_over else ():
            if runner.asleep:
                runner.wake()
        if due and self._due is not None and self._due.asleep:
            self._due.wake()

    def _stands_by(self) -> bool:
        """Whether another caboose leads where this one could."""
        return not all(leader.leads for _, leader in self._recording.values())

    def alive(self) -> bool:
        """Whether no part has ended or stalled."""
        return all(runner.alive() for runner in self._runners)

    async def ready(self) -> Mapping[str, bool | str]:
        """Whether the database and every source answer."""
        checks: dict[str, bool | str] = {"database": self._presence.fresh}
        for served in self._served:
            _, leader = self._recording[served.source.name]
            checks[served.source.name] = not leader.leads or await served.source.ready()  # a standby is ready
        return checks
