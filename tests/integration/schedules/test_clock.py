"""The loop in conductor against a server whose clock is set by the test: steps, outages, and compressed time."""

import asyncio
import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, LiteralString

import pytest

from conductor.maintenance.own_session import OwnSession
from conductor.maintenance.ticks import Ticks
from conductor.metrics import ConductorMetrics
from tests.deployment.deployment import Deployment
from tests.integration.schedules.schedule import apply, row, ticks
from tests.parts.clock import Clock
from tests.parts.database import Database
from tests.waiting import until

HOUR = 3600
MINUTE = timedelta(minutes=1)


def now(server: Database) -> datetime:
    [(at,)] = server.execute("select now()")
    return at  # type: ignore[no-any-return]


async def passes(server: Database, count: int = 1) -> None:
    """Let one conductor look so often."""
    shared = OwnSession(server.url)
    loop = Ticks(shared, OwnSession(server.url), ConductorMetrics().maintenance)
    try:
        for _ in range(count):
            await loop.run_once()
    finally:
        await loop.close()
        await shared.close()


def hourly(server: Database, **changes: Any) -> datetime:
    """An hourly schedule whose next tick is the coming hour."""
    [(at,)] = server.execute("select date_trunc('hour', now()) + interval '1 hour'")
    apply(server, next_at=at, **changes)
    return at  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("catch_up", "window", "fired"),
    [("none", 86400, 0), ("last", 86400, 1), ("all", 86400, 24), ("all", 7200, 2)],
)
async def test_a_days_outage(server: Database, clock: Clock, catch_up: str, window: int, fired: int) -> None:
    first = hourly(server, catch_up=catch_up, catch_up_window=window)
    into_the_hour = (now(server) - first).total_seconds() % HOUR
    clock.shift(round(25 * HOUR + HOUR / 2 - into_the_hour))  # half past an hour, 25 or 26 ticks later
    due = int((now(server) - first).total_seconds() // HOUR) + 1
    await passes(server, 3)
    assert len(ticks(server)) == fired
    assert row(server)["missed"] == due - fired
    entries = server.execute("select reason from switchyard.journal where kind = 'missed_ticks'")
    assert len(entries) == 1
    assert entries[0][0].startswith(f"{due - fired} ticks from ")
    assert server.execute("select missed_at is not null from switchyard.schedule") == [(True,)]
    assert row(server)["next_at"] == first + timedelta(hours=due)


async def test_a_clock_that_steps_forth_and_back_fires_no_tick_twice(server: Database, clock: Clock) -> None:
    first = hourly(server, catch_up="all")
    start = now(server)
    steps = [1, 2, -1, 3, 1, 2, 0, 4, 2, 5]
    for hours in steps:
        clock.shift(hours * HOUR)
        await passes(server)
    reached = int((start + timedelta(hours=max(steps)) - first).total_seconds() // HOUR) + 1
    assert [at for at, _ in ticks(server)] == [first + timedelta(hours=n) for n in range(reached)]
    assert server.execute("select count(*) from switchyard.action") == [(reached,)]
    assert row(server)["missed"] == 0


async def test_after_a_step_back_the_schedule_waits_for_its_next_time(server: Database, clock: Clock) -> None:
    first = hourly(server)
    clock.shift(2 * HOUR)
    await passes(server)
    fired = len(ticks(server))
    clock.shift(0)
    await passes(server, 3)
    assert len(ticks(server)) == fired
    assert row(server)["next_at"] > first
    clock.shift(3 * HOUR)
    await passes(server)
    assert len(ticks(server)) == fired + 1


@pytest.mark.parametrize(
    "change",
    [
        "action_name = ''",
        "cron = '0 * * * *', every = null, timezone = 'Mars/Phobos'",
        "cron = '0 * * * *', every = null, timezone = '../../etc/passwd'",
        "cron = 'whenever', every = null",
        "cron = '0 0 30 2 *', every = null",
    ],
)
async def test_a_schedule_that_cannot_fire_does_not_keep_the_others_from_it(
    server: Database, change: LiteralString
) -> None:
    for name in ("a", "b", "c"):
        apply(server, name)
    server.execute(f"update switchyard.schedule set {change} where name = 'b'")
    await passes(server)
    assert [len(ticks(server, name)) for name in ("a", "b", "c")] == [1, 0, 1]


@pytest.mark.slow
def test_an_hour_with_eight_conductors_that_are_killed_fires_each_minute_once(
    server: Database, clock: Clock, tmp_path: Path
) -> None:
    """A second of ours is a minute of the server's; a conductor is killed every half a second."""
    deployment = Deployment(
        server, tmp_path, {"actions": {"noop": {"type": "noop"}}, "workers": {"max_lost_ratio": 1.0}}
    )
    [(first,)] = server.execute("select date_trunc('minute', now()) + interval '1 minute'")
    apply(server, next_at=first, every=60, catch_up="all")
    chosen = random.Random(18)
    conductors = [deployment.add_conductor() for _ in range(8)]
    try:
        until(lambda: all(program.said("health server listens") for program in conductors), 120)
        kills = 0
        for second in range(1, 61):
            clock.shift(59 * second)
            for victim in chosen.sample(conductors, 2):
                kills += victim.running()
                victim.kill()
                victim.start()
            asyncio.run(asyncio.sleep(1))  # time itself is what passes here
        until(lambda: row(server)["next_at"] > now(server), 120)
    finally:
        for program in conductors:
            program.kill()
    expected = [first + n * MINUTE for n in range(len(ticks(server)))]
    assert [at for at, _ in ticks(server)] == expected
    assert len(expected) >= 60
    times = server.execute("select parameters ->> 'at', count(*) from switchyard.action group by 1")
    assert len(times) == len(expected)
    assert {count for _, count in times} == {1}
    assert row(server)["missed"] == 0
    assert kills > 60
