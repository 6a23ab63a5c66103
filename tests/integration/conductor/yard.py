"""Workers of the real engine in the test's own loop, on a real database, with a handler that the test scripts."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from conductor.limits.served_name import ServedName
from conductor.metrics import ConductorMetrics
from conductor.registry import Identity
from conductor.resting import Resting
from conductor.worker.worker import Worker, WorkerContext
from switchyard.backends.noop.handler import NoopHandler
from switchyard.backends.noop.model import NoopAction
from switchyard.config import Config
from switchyard.config.daemons import Conductor, Workers
from switchyard.config.flows import flows_of
from switchyard.handlers import Handler, HandlerContext, Outcome, Success, Work
from tests.deployment.ledger import Ledger
from tests.parts.database import Database
from tests.waiting import eventually

NAME = "drill"
HASH = "hash"
CONTEXT = HandlerContext(config=None, store=None, secrets={})


class Script:
    """A handler that answers what the test says, and remembers what it was asked."""

    def __init__(self, answer: Callable[[Work], Outcome] = lambda _: Success()) -> None:
        self.answer = answer
        self.seen: Counter[UUID] = Counter()
        self.works: list[Work] = []
        self.flying = 0
        self.cancelled = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.only: UUID | None = None  # whom the gate is for; None: for all

    async def start(self) -> None:
        """Nothing to open."""

    async def dispatch(self, work: Work, /) -> Outcome:
        self.seen[work.uuid] += 1
        self.works.append(work)
        self.flying += 1
        try:
            if self.only in (None, work.uuid):
                await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.flying -= 1
        return self.answer(work)

    async def close(self) -> None:
        """Nothing to let go of."""


class Yard:
    """Starts workers and knows their database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.ledger = Ledger(database)
        self.metrics = ConductorMetrics()
        self._running: list[tuple[Worker, asyncio.Task[None]]] = []

    def submit(self, count: int = 1, name: str = NAME) -> list[UUID]:
        """This many actions of that name, oldest first."""
        return self.ledger.insert(name, count)

    def served(self, handler: Handler | None = None, *, name: str = NAME, **action: Any) -> ServedName:
        """An action name as configured, announced where it has limits; without a handler it is noop."""
        configured = NoopAction.model_validate(action)
        config = Config.model_validate({"actions": {name: {"type": "noop", **action}}})
        flows = flows_of(config, name)
        if flows:
            self.database.execute("select switchyard.announce_flows(%s::jsonb)", json.dumps(flows))
        handler = handler or NoopHandler(name, configured, CONTEXT)
        keys = [flow["flow"] for flow in flows]
        return ServedName(name, configured, handler, self.metrics, flows=keys)

    def worker(
        self,
        served: ServedName,
        *,
        url: str | None = None,
        once: bool = False,
        workers: Workers | None = None,
        config_hash: str = HASH,
        resting: Resting | None = None,
        **settings: Any,
    ) -> Worker:
        """A worker that is not started yet."""
        context = WorkerContext(
            url or self.database.url,
            Conductor.model_validate({"grace": "5s", **settings}),
            workers or Workers(),
            Identity("test", None, config_hash),
            once,
            resting=resting,
        )
        return Worker(served, context)

    def start(self, served: ServedName, **options: Any) -> Worker:
        """A worker at work; stopped at the end of the test."""
        worker = self.worker(served, **options)
        self._running.append((worker, asyncio.create_task(worker.run())))
        return worker

    async def drain(self, *names: ServedName, **options: Any) -> None:
        """One pass over what is due."""
        async with asyncio.timeout(60):
            await asyncio.gather(*(self.worker(served, once=True, **options).run() for served in names))

    async def stop(self) -> None:
        """End all workers in order."""
        running, self._running = self._running, []
        for worker, _ in running:
            worker.stop()
        await asyncio.gather(*(task for _, task in running))

    def statuses(self, name: str = NAME) -> dict[str, int]:
        """How many threads of the name are in which status."""
        return self.ledger.counts(name)

    def events(self, uuid: UUID) -> list[tuple[str, int, bool]]:
        """Status, attempt and ignored of an action's events, in order."""
        return [(event.status, event.attempt, event.ignored) for event in self.ledger.events(uuid)]

    def armed(self) -> int:
        """Bells that somebody sleeps on."""
        [[count]] = self.database.execute(
            "select count(*) from pg_locks join pg_database on pg_database.oid = database"
            " where locktype = 'advisory' and objsubid = 2 and classid = 1937204078 and granted"
            " and mode = 'ExclusiveLock' and datname = current_database()"
        )
        return int(count)

    def backends(self) -> list[int]:
        """The pids of the conductors' backends."""
        rows = self.database.execute(
            "select pid from pg_stat_activity where application_name like 'conductor %%'"
            " and datname = current_database()"
        )
        return [pid for (pid,) in rows]

    def end_backends(self) -> None:
        """Terminate them all."""
        self.database.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name like 'conductor %%' and datname = current_database()"
        )


@asynccontextmanager
async def yard_of(database: Database) -> AsyncIterator[Yard]:
    """A yard whose workers are stopped at the end, leaving no lock."""
    yard = Yard(database)
    try:
        yield yard
    finally:
        await yard.stop()
    await eventually(lambda: yard.ledger.locks() == 0)


def ended_once(yard: Yard, uuids: Sequence[UUID]) -> bool:
    """Every action has exactly one end that counts."""
    rows = yard.database.execute(
        "select count(*) from switchyard.event where action_uuid = any(%s) and status >= 'SUCCESSFUL'"
        " and not ignored group by action_uuid",
        list(uuids),
    )
    return len(rows) == len(uuids) and all(count == 1 for (count,) in rows)
