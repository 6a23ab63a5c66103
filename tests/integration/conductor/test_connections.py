"""More action names than connections: quiet names share, busy ones take turns, nobody looks dead."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from conductor.registry import Identity
from conductor.worker import connections
from conductor.worker.connections import Connections, Lookout
from conductor.worker.worker import Worker, WorkerContext
from switchyard.config.daemons import Conductor, Workers
from tests.integration.conductor.yard import HASH, Script, Yard
from tests.waiting import eventually

pytestmark = pytest.mark.database

NAMES = [f"name{n}" for n in range(12)]
MOST = 3


@asynccontextmanager
async def crowd(yard: Yard, handler: Script, most: int = MOST, **action: Any) -> AsyncIterator[list[Worker]]:
    """A worker for each name, with fewer connections than that."""
    limits = Workers.model_validate({"beat": "200ms", "lost_after": "3s"})
    context = WorkerContext(
        yard.database.url,
        Conductor.model_validate({"grace": "5s"}),
        limits,
        Identity("test", None, HASH),
        False,
        Connections(most),
        Lookout(yard.database.url, limits.beat),
    )
    workers = [Worker(yard.served(handler, name=name, **action), context) for name in NAMES]
    running = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        await eventually(lambda: all(worker.serving for worker in workers), 30)
        yield workers
    finally:
        handler.gate.set()
        for worker in workers:
            worker.stop()
        await asyncio.gather(*running)


async def test_more_names_than_connections_are_all_served(yard: Yard) -> None:
    handler = Script()
    async with crowd(yard, handler):
        for _ in range(2):
            before = handler.seen.total()
            for name in NAMES:
                yard.submit(3, name)
            await eventually(lambda: handler.seen.total() == before + 36, 30)  # noqa: B023 - used in this round
            assert len(yard.backends()) <= MOST + 1  # and the lookout
        rows = "select count(distinct action_name) from switchyard.worker where ended_at is null and lost_at is null"
        assert yard.database.execute(rows) == [(12,)]
        silent = "select max(clock_timestamp() - beat_at) < interval '2 s' from switchyard.worker where ended_at is null"
        await asyncio.sleep(1)  # several beats, parked or not
        assert yard.database.execute(silent) == [(True,)]
    assert set(handler.seen.values()) == {1}
    assert yard.database.execute("select count(*) from switchyard.worker where ended_at is null") == [(0,)]


async def test_a_name_that_is_never_idle_takes_turns_with_the_others(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SLICE", 0.2)
    handler = Script()
    async with crowd(yard, handler, most=1):
        yard.submit(3_000, NAMES[0])
        others = [uuid for name in NAMES[1:] for uuid in yard.submit(1, name)]
        await eventually(lambda: all(uuid in handler.seen for uuid in others), 30)
        assert yard.statuses(NAMES[0]) != {"SUCCESSFUL": 3_000}
        yard.database.execute("select switchyard.pause(%s, 'test', 'enough')", NAMES[0])


async def test_what_a_dead_conductor_left_under_a_parked_name_is_found_with_the_next_heartbeat(
    yard: Yard,
) -> None:
    handler = Script()
    async with crowd(yard, handler, delivery="at_most_once"):
        await asyncio.sleep(1)  # all who share a connection are parked by now
        with yard.database.connect(autocommit=False) as dead:
            for name in NAMES:
                dead.execute(
                    "with made as (insert into switchyard.action (action_name, action_type)"
                    " values (%s, 'callback') returning action_uuid),"
                    " held as (select m.action_uuid, pg_advisory_lock(switchyard.uuid_lock(m.action_uuid)) from made m)"
                    " select count(*) from held",
                    [name],
                )
            dead.execute(
                "insert into switchyard.event (action_uuid, status, run, attempt)"
                " select action_uuid, 'RUNNING', 1, 1 from switchyard.yard"
            )
            dead.commit()
            await asyncio.sleep(1)  # several beats: whoever holds the lock is alive
            assert {name: yard.statuses(name) for name in NAMES} == {name: {"RUNNING": 1} for name in NAMES}
        for name in NAMES:
            await eventually(partial(lambda name: yard.statuses(name) != {"RUNNING": 1}, name), 15)
    assert handler.seen.total() == 0


async def test_a_worker_that_stops_waiting_takes_no_connection() -> None:
    shared, stopped = Connections(1), asyncio.Event()
    await shared.take()
    waiting = asyncio.create_task(shared.take_unless(stopped))
    await asyncio.sleep(0)
    stopped.set()
    assert await waiting is False
    assert not shared.wanted
    shared.give_back()
    assert await shared.take_unless(asyncio.Event()) is True
