"""Everything that caboose does, it can do as switchyard_worker: no more rights than that."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from caboose.presence import Presence
from caboose.sweeps.reconcile import Reconcile
from switchyard.sources import Beat, Notice, Observation
from switchyard.status import Status
from tests.integration.caboose.conftest import Worlds
from tests.parts.database import Database

FLOWS: dict[str, Any] = {
    "flow": {
        "action": "run",
        "retry": {"attempts": 2, "base": "1s"},
        "callbacks": [
            {"name": "done", "action": "hook"},
            {"name": "bad", "action": "run", "workflow": "flow", "input": {"value": 1}},
        ],
    },
    "hasty": {"action": "run", "timeout": "1ms"},
}


@pytest.fixture
def worker_url(database: Database) -> Iterator[str]:
    """The database as a user who has the role of a worker and nothing else."""
    name = sql.Identifier(f"worker_{uuid4().hex[:12]}")
    with psycopg.connect(database.url, autocommit=True) as admin:
        admin.execute(sql.SQL("create role {} login").format(name))
        admin.execute(sql.SQL("grant switchyard_worker to {}").format(name))
        yield make_conninfo(database.url, user=name.as_string(None).strip('"'))
        admin.execute(sql.SQL("drop role {}").format(name))


async def test_the_workers_role_is_enough(worlds: Worlds, worker_url: str) -> None:
    world = await worlds(FLOWS, database_url=worker_url)
    retried, cancelled, late = (world.queued(world.submit(name)) for name in ("flow", "flow", "hasty"))
    done = world.queued(world.submit())
    world.exited(retried, 1)
    world.exited(done)
    await world.tell()
    await world.tell(Observation(cancelled, 1, Status.RUNNING), Observation(cancelled, 1, Status.INFO))
    world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", cancelled)
    await world.timeouts.run_once()
    await world.due.run_once()
    statuses = [world.thread(uuid)["status"] for uuid in (retried, cancelled, late, done)]
    assert statuses == ["BACKOFF", "CANCELED", "TIMED_OUT", "SUCCESSFUL"]
    assert [child[4] for child in world.children(done)] == ["INVALID", "PENDING"]
    await Reconcile(world.source, ["run"], world.queries, world.intake, world.leader).run_once()


async def test_it_may_keep_the_rows_of_workers_and_the_inbox(worlds: Worlds, worker_url: str) -> None:
    world = await worlds(FLOWS, database_url=worker_url)
    await world.tell(
        Notice("queue", "unreadable", "m-1", {"text": "?"}, _done),
        Beat("w-1", "assessment", "beat", 1, 0, 0.5, _done),
    )
    presence = Presence(uuid4(), world.queries, world.config, world.services.metrics, serves=["run"])
    await presence.register()
    await presence.run_once()
    assert presence.fresh
    await presence.end()
    rows = world.database.execute("select kind, state from switchyard.fleet order by kind")
    assert rows == [("assessment", "running"), ("caboose", "ended")]
    assert world.inbox("message") == [("queue", "unreadable")]


async def _done() -> None:
    return None
