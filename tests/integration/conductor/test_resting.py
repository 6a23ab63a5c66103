"""Workers that have nothing to do rest: the pulse beats for all of them, and finds what no bell announced."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from conductor.maintenance.own_session import OwnSession
from conductor.maintenance.pulse import Pulse
from conductor.resting import Resting
from switchyard.config.daemons import Workers
from switchyard.process.loop import Runner
from tests.integration.conductor.yard import Script, Yard
from tests.waiting import eventually

QUICK = Workers.model_validate({"beat": "100ms", "lost_after": "1s"})
SILENT = (
    "create or replace function switchyard.ring(action_names text[], p_ready uuid default null) returns void"
    " language sql as 'select'"
)
ROWS = "select extract(epoch from rests)::float8, done, lost_at is not null from switchyard.worker where ended_at is null"


@asynccontextmanager
async def pulse(yard: Yard, resting: Resting) -> AsyncIterator[list[str]]:
    """The loop at work; what it woke."""
    woken: list[str] = []
    own = OwnSession(yard.database.url)
    runner = Runner(Pulse(own, resting, lambda *names: woken.extend(names)))
    task = asyncio.create_task(runner.run())
    try:
        yield woken
    finally:
        runner.stop()
        await task
        await own.close()


def rows(yard: Yard) -> list[Any]:
    return yard.database.execute(ROWS)


def rests(yard: Yard) -> bool:
    return bool(rows(yard)) and all(row[0] > 0 for row in rows(yard))


async def test_a_worker_with_nothing_to_do_rests_until_it_claims(yard: Yard) -> None:
    resting = Resting(0.3)
    script = Script()
    script.gate.clear()
    worker = yard.start(yard.served(script), workers=QUICK, resting=resting)
    await eventually(lambda: rests(yard))
    assert list(resting.workers) == [worker._rows[-1].heartbeat.worker]
    beat = "select beat_at from switchyard.worker"
    seen = yard.database.execute(beat)
    async with pulse(yard, resting):
        await eventually(lambda: yard.database.execute(beat) != seen)
        yard.submit(1)
        await eventually(lambda: [row[0] for row in rows(yard)] == [0.0])
        assert not resting.workers, "whoever holds something beats for itself"
        script.gate.set()
        await eventually(lambda: rests(yard) and rows(yard)[0][1] == 1)


async def test_the_pulse_finds_what_no_bell_announced(yard: Yard) -> None:
    resting = Resting(0.1)
    yard.start(yard.served(), workers=QUICK, resting=resting)
    await eventually(lambda: rests(yard))
    yard.database.execute(SILENT)
    async with pulse(yard, resting) as woken:
        yard.submit(3)
        await eventually(lambda: yard.statuses() == {"SUCCESSFUL": 3})
    assert "queue depth" in woken


async def test_a_resting_worker_that_was_marked_lost_starts_again(yard: Yard) -> None:
    resting = Resting(0.1)
    yard.start(yard.served(), workers=QUICK, resting=resting)
    await eventually(lambda: rests(yard))
    yard.database.execute("update switchyard.worker set lost_at = now()")
    async with pulse(yard, resting):
        await eventually(lambda: any(not lost for *_, lost in rows(yard)))
        yard.submit(1)
        await eventually(lambda: yard.statuses() == {"SUCCESSFUL": 1})


async def test_an_ended_worker_is_not_beaten_for(yard: Yard) -> None:
    resting = Resting(0.1)
    yard.start(yard.served(), workers=QUICK, resting=resting)
    await eventually(lambda: bool(resting.workers))
    await yard.stop()
    assert not resting.workers
