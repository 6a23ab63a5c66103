"""`local`: hands a workflow to a supervised process that outlives us."""

import os
from pathlib import Path
from typing import Any

from switchyard.backends.local.launch import Launched, launch
from switchyard.backends.local.model import LocalAction
from switchyard.backends.local.spool import folder, owner, record
from switchyard.backends.prepare import Prepared, prepare
from switchyard.backends.threads import Threads
from switchyard.config.secrets import SecretRef
from switchyard.handlers import HandedOver, HandlerContext, Invalid, Outcome, Retry, Work
from switchyard.places import environment

OUTPUT_LIMIT = 1024 * 1024


class LocalHandler:
    """Starts each run's process once, however often it is dispatched: the spool folder decides."""

    def __init__(self, name: str, action: LocalAction, context: HandlerContext) -> None:
        self.name = name
        self._action = action
        self._context = context
        self._threads = Threads(min(action.concurrency, 32))
        self._spool_id = ""

    async def start(self) -> None:
        """Claim the spool for this host."""
        self._spool_id = await self._threads.run(owner.claim, self._action.spool)

    async def dispatch(self, work: Work, /) -> Outcome:
        """Make the folder and leave a supervisor behind, unless an earlier attempt did."""
        prepared = await prepare(work, self._context, self._threads)
        if not isinstance(prepared, Prepared):
            return prepared
        argv = self._action.argv(prepared.workflow.template)
        if not argv:
            return Invalid(f"the workflow {work.workflow!r} has no command")
        try:
            path = await self._threads.run(folder.make, self._action.spool, work.name)
            launched = await self._launch(path, self._job(work, prepared, list(argv)))
        except OSError as error:
            return Retry(f"the spool {self._action.spool} does not work: {error.strerror}", sent=False)
        if launched is Launched.BROKEN:
            return Retry(f"the supervisor could not start in {path}")
        return HandedOver({"spool": self._spool_id})

    async def close(self) -> None:
        """Nothing is held: what was started lives on without us."""

    async def _launch(self, path: Path, job: dict[str, Any]) -> Launched:
        if (path / record.STARTED).exists():
            return Launched.ALREADY
        return await launch(path, job)

    def _job(self, work: Work, prepared: Prepared, argv: list[str]) -> dict[str, Any]:
        limits = self._action.limits
        return {
            "argv": argv,
            "environment": self._environment()
            | environment(prepared.places, work.correlation_id, self._context.store.url_of),
            "time": limits.time or prepared.workflow.timeout,
            "memory": limits.memory,
            "grace": self._action.grace,
            "output_limit": OUTPUT_LIMIT,
        }

    def _environment(self) -> dict[str, str]:
        """As configured and nothing else; references are resolved now, so that a rotated secret is seen."""
        ours = {name: os.environ[name] for name in self._action.pass_env if name in os.environ}
        given = self._action.env.items()
        return ours | {
            name: value.resolve() if isinstance(value, SecretRef) else value for name, value in given
        }
