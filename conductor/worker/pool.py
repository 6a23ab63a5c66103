"""The pool of one action name in this process: its handler, its shared limits and its workers."""

import asyncio

from conductor.dispatch.threads import serving
from conductor.limits.served_name import ServedName
from conductor.metrics import ConductorMetrics
from conductor.worker.worker import Worker, WorkerContext
from switchyard.backends.registry import build_handler
from switchyard.config.action import Action
from switchyard.config.flows import flows_of
from switchyard.handlers import HandlerContext
from switchyard.process.log import get_logger

log = get_logger(__name__)


class WorkerPool:
    """All workers of one action name."""

    def __init__(
        self,
        name: str,
        action: Action,
        shared: WorkerContext,
        context: HandlerContext,
        metrics: ConductorMetrics,
    ) -> None:
        self.name = name
        self._shared = shared
        self._handler = build_handler(name, action, context)
        flows = [flow["flow"] for flow in flows_of(context.config, name)]
        self._served = ServedName(name, action, self._handler, metrics, flows=flows)
        self._workers = [Worker(self._served, shared) for _ in range(shared.settings.workers)]
        self.tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Open the handler, then start the workers."""
        context = serving(self.name, self._served.action.concurrency)
        await asyncio.create_task(self._handler.start(), context=context.copy())
        self.tasks = [
            asyncio.create_task(worker.run(), name=self.name, context=context.copy())
            for worker in self._workers
        ]
        log.info("serving", action=self.name, workers=len(self._workers))

    def stop(self) -> None:
        """Ask all workers to finish."""
        for worker in self._workers:
            worker.stop()

    async def join(self) -> None:
        """Wait for the workers to end, then close the handler; raises the error that ended a worker."""
        try:
            await asyncio.gather(*self.tasks)
        finally:
            self.stop()
            await asyncio.gather(*self.tasks, return_exceptions=True)
            await self._handler.close()

    @property
    def serving(self) -> bool:
        """Whether every worker has a session."""
        return all(worker.serving for worker in self._workers)

    @property
    def alive(self) -> bool:
        """Whether no worker has ended unexpectedly."""
        return not any(task.done() for task in self.tasks)
