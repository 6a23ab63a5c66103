"""A deployment with local processes in a spool; work is handed over as conductor does it."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from switchyard.backends.local.handler import LocalHandler
from switchyard.backends.local.model import LocalAction
from switchyard.handlers import HandedOver, HandlerContext, Work
from tests.deployment.deployment import Deployment
from tests.parts.database import Database


class Station(Deployment):
    """Where one caboose is started, killed and stopped."""

    def __init__(
        self,
        database: Database,
        folder: Path,
        workflows: Mapping[str, Any],
        environ: Mapping[str, str] | None = None,
        **config: Any,
    ) -> None:
        self.spool = folder / "spool"
        actions = {"run": {"type": "local", "spool": str(self.spool)}, "hook": {"type": "noop"}}
        content = {"actions": actions, "workflows": dict(workflows), **config}
        super().__init__(database, folder, content, environ)
        self.caboose = self.program("caboose")

    def submit(self, workflow: str, **parameters: Any) -> UUID:
        return self.ledger.submit("run", workflow, parameters)

    def hand_over(self, *uuids: UUID, run: int = 1) -> None:
        """Dispatch them with the real handler, and write what conductor would."""
        outcomes = asyncio.run(self._dispatch(uuids, run))
        for uuid, outcome in zip(uuids, outcomes, strict=True):
            assert isinstance(outcome, HandedOver), outcome
            self.ledger.event(uuid, "QUEUED", run, detail=outcome.detail)

    async def _dispatch(self, uuids: tuple[UUID, ...], run: int) -> list[Any]:
        action = self.config.actions["run"]
        assert isinstance(action, LocalAction)
        handler = LocalHandler("run", action, HandlerContext(self.config, self.store, {}))
        await handler.start()
        return [await handler.dispatch(self._work(uuid, run)) for uuid in uuids]

    def _work(self, uuid: UUID, run: int) -> Work:
        ((workflow, parameters),) = self.database.execute(
            "select workflow, parameters from switchyard.action where action_uuid = %s", uuid
        )
        started = datetime.now(UTC)
        return Work(uuid, run, 1, False, "run", workflow, None, None, parameters, "c-1", started)

    def executions(self) -> list[str]:
        """What is left in the spool."""
        return [path.name for path in self.spool.iterdir() if path.is_dir()]
