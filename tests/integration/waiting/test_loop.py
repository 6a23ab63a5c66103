"""The loop in conductor: it opens a session of its own while something waits, and hears the bell."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID

from conductor.maintenance.own_session import OwnSession
from conductor.maintenance.settle import IDLE, Settle
from conductor.metrics import ConductorMetrics
from switchyard.process.loop import Runner
from tests.integration.waiting.joins import end, held, ready, submit
from tests.parts.database import Database
from tests.waiting import eventually

SESSIONS = "select count(*) from pg_stat_activity where application_name = 'conductor maintenance' and datname = current_database()"
MARKED = "select 1 from switchyard.yard where action_uuid = %s and watched"
ARMED = (
    "select count(*) from pg_locks where locktype = 'advisory' and classid = 1937204078 and mode = 'ExclusiveLock'"
    " and objid = switchyard.bell_key('switchyard joins')::bigint & 4294967295 and granted"
)


@asynccontextmanager
async def settling(database: Database, count: int = 1) -> AsyncIterator[None]:
    """This many conductors settle."""
    shared = [OwnSession(database.url) for _ in range(count)]
    loops = [Settle(own, OwnSession(database.url), ConductorMetrics().maintenance) for own in shared]
    runners = [Runner(loop) for loop in loops]
    for own, runner in zip(shared, runners, strict=True):
        own.on_change = runner.wake
    tasks = [asyncio.create_task(runner.run()) for runner in runners]
    try:
        yield
    finally:
        for runner in runners:
            runner.stop()
        await asyncio.gather(*tasks)
        for loop in loops:
            await loop.close()
        for own in shared:
            await own.close()


def free(database: Database, uuid: UUID) -> bool:
    return not held(database, uuid)


async def test_it_listens_only_while_something_waits(database: Database) -> None:
    async with settling(database):
        await eventually(lambda: database.execute(SESSIONS) == [(1,)])
        with database.connect() as connection:
            child = submit(connection)
            waiter = submit(connection, [child])
            await eventually(lambda: database.execute(SESSIONS) == [(2,)])
            end(connection, child)
        await eventually(lambda: ready(database, waiter))
        await eventually(lambda: database.execute(SESSIONS) == [(1,)])


async def test_the_end_of_a_watched_action_notifies(database: Database) -> None:
    """Without the bell each would take up to IDLE, and a quarter of a second on average."""
    waits = []
    async with settling(database):
        with database.connect() as connection:
            last = submit(connection)
            submit(connection, [last])  # keeps the loop listening
            for _ in range(10):
                child = submit(connection)
                waiter = submit(connection, [child])
                await eventually(partial(database.execute, MARKED, child))
                await eventually(lambda: database.execute(ARMED) == [(1,)])
                end(connection, child)
                began = time.monotonic()
                await eventually(partial(free, database, waiter), every=0.002)
                waits.append(time.monotonic() - began)
            end(connection, last)
    assert sorted(waits)[5] < IDLE / 2, waits


async def test_several_conductors_settle_a_chain(database: Database) -> None:
    async with settling(database, 3):
        with database.connect() as connection:
            chain = [submit(connection)]
            for _ in range(20):
                chain.append(submit(connection, [chain[-1]]))
            for uuid in chain:
                await eventually(partial(free, database, uuid), 30)
                end(connection, uuid)
        await eventually(lambda: database.execute("select count(*) from switchyard.waiting") == [(0,)])
