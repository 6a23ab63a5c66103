"""`local`: runs a workflow in a supervised process that outlives conductor."""

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from switchyard.backends.local.launch import Launched, launch
from switchyard.backends.local.model import LocalAction
from switchyard.backends.local.spool import folder, owner, record
from switchyard.backends.prepare import PreparedWorkflow, prepare
from switchyard.backends.threads import Threads
from switchyard.config.secrets import SecretRef
from switchyard.handlers import HandedOver, HandlerContext, Invalid, Outcome, Retry, Work
from switchyard.places import environment

OUTPUT_LIMIT = 1024 * 1024
SHORTEST_SECRET = 4  # shorter ones occur in ordinary text


class LocalHandler:
    """Starts the process of each run once, however often it is dispatched; the spool folder ensures that."""

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
        """Create the folder and start a supervisor, unless an earlier attempt did."""
        prepared = await prepare(work, self._context, self._threads)
        if not isinstance(prepared, PreparedWorkflow):
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
        """Nothing to close: started processes continue without conductor."""

    async def _launch(self, path: Path, job: dict[str, Any]) -> Launched:
        if (path / record.STARTED).exists():
            return Launched.ALREADY
        return await launch(path, job)

    def _job(self, work: Work, prepared: PreparedWorkflow, argv: list[str]) -> dict[str, Any]:
        limits = self._action.limits
        ours = {name: os.environ[name] for name in self._action.pass_env if name in os.environ}
        given = self._action.env.items()
        # Resolved now, so that rotated secrets are used.
        secrets = {name: value.resolve() for name, value in given if isinstance(value, SecretRef)}
        plain = {name: value for name, value in given if isinstance(value, str)}
        variables = environment(prepared.places, work.correlation_id, self._context.store.url_of)
        return {
            "argv": argv,
            "environment": ours | plain | secrets | variables,
            "secrets": sorted({form for value in secrets.values() for form in _forms(value)}),
            "time": limits.time or prepared.workflow.timeout,
            "memory": limits.memory,
            "grace": self._action.grace,
            "output_limit": OUTPUT_LIMIT,
        }


def _forms(secret: str) -> Iterator[str]:
    """The forms in which a secret may appear in the output; the supervisor masks all of them."""
    for text in (secret, *secret.splitlines()):
        if len(plain := text.strip()) >= SHORTEST_SECRET:
            yield plain
            yield quote(plain, safe="", errors="surrogateescape")
            yield base64.b64encode(plain.encode(errors="surrogateescape")).decode()
