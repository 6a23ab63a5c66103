"""Caboose's core on a real database, a real spool and a real store, driven pass by pass."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from caboose.queries import Queries
from caboose.sweeps.timeouts import Timeouts
from switchyard.backends.local.model import LocalAction
from switchyard.backends.local.source import LocalSource
from switchyard.backends.local.spool import folder, record
from switchyard.config.config import Config
from switchyard.execution import name_of
from switchyard.places import Places
from switchyard.sources import Seen
from switchyard.store import Store, open_store
from tests.deployment.ledger import Ledger
from tests.integration.caboose.core import Core
from tests.parts.database import Database

ACTIONS: dict[str, Any] = {
    "run": {"type": "local", "command": "true"},
    "hook": {"type": "noop"},
    "stac": {"type": "noop"},
}


class World(Core[LocalSource]):
    """One caboose's core, and hands to move what surrounds it."""

    def __init__(
        self,
        database: Database,
        config: Config,
        store: Store,
        source: LocalSource,
        spool: Path,
        queries: Queries,
        leader: str | None,
    ) -> None:
        super().__init__(config, store, source, queries, leader=leader)
        self.database, self.spool, self.ledger = database, spool, Ledger(database)
        self.timeouts = Timeouts(queries, self.scope, self.services, lambda: None)

    def submit(
        self, workflow: str = "flow", parameters: Mapping[str, Any] | None = None, **more: Any
    ) -> UUID:
        """A workflow's action."""
        return self.ledger.submit("run", workflow, parameters, **more)

    def queued(self, uuid: UUID, run: int = 1, detail: Mapping[str, Any] | None = None) -> UUID:
        """Conductor handed it over."""
        self.event(uuid, "QUEUED", run, 1, detail)
        return uuid

    def event(
        self, uuid: UUID, status: str, run: int, attempt: int, detail: Mapping[str, Any] | None = None
    ) -> None:
        self.ledger.event(uuid, status, run, attempt, detail)

    def started(self, uuid: UUID, run: int = 1) -> Path:
        """A process's folder, marked as started."""
        path = folder.make(self.spool, name_of(uuid, run))
        record.write(path / record.STARTED, {"version": 1, "pid": 1, "started_at": 0})
        return path

    def exited(
        self, uuid: UUID, code: int = 0, run: int = 1, output: Any = None, stderr: str = "", **exit_file: Any
    ) -> Path:
        """The process ended: its output is in the store, its exit in the spool."""
        if output is not None:
            data = output if isinstance(output, bytes) else json.dumps(output).encode()
            self.store.put(Places(uuid, run).output, data)
        path = self.started(uuid, run)
        (path / record.STDERR).write_text(stderr)
        ended = {"version": 1, "code": code, "signal": None, "reason": "exited", **exit_file}
        record.write(path / record.EXIT, ended)
        return path

    async def tell(self, *seen: Seen) -> None:
        """Hand in what the source sees, or these, and take it as far as it goes now."""
        for each in seen or self.source._scan():
            await self.intake.put(each)
        while await self.completer.run_once() == 0.0:
            continue

    def thread(self, uuid: UUID) -> dict[str, Any]:
        """The thread's row."""
        return self.ledger.thread(uuid)

    def events(self, uuid: UUID) -> list[tuple[Any, ...]]:
        """(status, run, ignored) of every event, in order."""
        return [(event.status, event.run, event.ignored) for event in self.ledger.events(uuid)]

    def children(self, uuid: UUID) -> list[tuple[Any, ...]]:
        """(callback, action name, workflow, parameters, status) of what follows an action, in order."""
        return self.database.execute(
            "select a.callback, a.action_name, a.workflow, a.parameters, t.status::text "
            "from switchyard.action a join switchyard.thread t using (action_uuid) "
            "where a.parent_uuid = %s order by a.callback, a.parameters::text",
            uuid,
        )

    def inbox(self, kind: str) -> list[tuple[Any, ...]]:
        """(subject, error) of the inbox's entries of that kind."""
        return self.ledger.inbox(kind)

    async def close(self) -> None:
        await self.queries.close()
        await asyncio.to_thread(self.services.close)


async def build(
    database: Database,
    tmp_path: Path,
    workflows: Mapping[str, Any],
    store: Store | None = None,
    database_url: str | None = None,
    leader_name: str | None = None,
    **config: Any,
) -> World:
    """A world around these workflows."""
    spool = tmp_path / "spool"
    more = config.pop("more_actions", {})
    actions = {**ACTIONS, "run": {**ACTIONS["run"], "spool": str(spool)}, **more}
    made = Config.model_validate({"actions": actions, "workflows": workflows, **config})
    action = made.actions["run"]
    assert isinstance(action, LocalAction)
    source = LocalSource(action)
    await source.start()
    kept = store or open_store((tmp_path / "store").as_uri())
    queries = Queries(database_url or database.url, "caboose test")
    return World(database, made, kept, source, spool, queries, leader_name)
