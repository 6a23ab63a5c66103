"""The metrics of missed ticks and stuck campaigns: what the database says, whoever found it."""

from collections.abc import AsyncIterator

import pytest

from conductor.maintenance.gauges import overdue
from conductor.maintenance.own_session import OwnSession
from switchyard.ledger.queries import query
from tests.integration.conductor.yard import Yard
from tests.integration.schedules.schedule import apply, row, tick

PULSE = query("conductor", "pulse")
START = "select switchyard.start_campaign(%s, '{}', 5, action_name => 'noop')"


@pytest.fixture
async def own(yard: Yard) -> AsyncIterator[OwnSession]:
    session = OwnSession(yard.database.url)
    yield session
    await session.close()


def shown(yard: Yard, name: str, **labels: str) -> float | None:
    return yard.metrics.registry.get_sample_value(f"switchyard_conductor_{name}", labels)


async def test_ticks_that_another_conductor_found_missed_are_shown_for_an_hour(
    yard: Yard, own: OwnSession
) -> None:
    loop = overdue(own, yard.metrics.maintenance)
    assert await loop.run_once() is None
    apply(yard.database)
    assert await loop.run_once() is not None
    assert shown(yard, "schedule_missed", schedule="s") == 0
    tick(yard.database, next_at=row(yard.database)["next_at"].replace(year=2100), missed=3)
    await loop.run_once()
    assert shown(yard, "schedule_missed", schedule="s") == 1
    yard.database.execute("update switchyard.schedule set missed_at = now() - interval '61 minutes'")
    await loop.run_once()
    assert shown(yard, "schedule_missed", schedule="s") == 0


@pytest.mark.parametrize("what", ["schedule", "campaign"])
async def test_the_pulse_wakes_it_where_there_is_a_schedule_or_an_open_set(
    yard: Yard, own: OwnSession, what: str
) -> None:
    async def woken() -> bool:
        async with own.session() as session:
            [[_, _, loops]] = await session.rows(PULSE, {"workers": [], "names": [], "alone": []})
        return overdue(own, yard.metrics.maintenance).name in loops

    assert not await woken()
    if what == "schedule":
        apply(yard.database)
    else:
        yard.database.execute(START, "spring")
    assert await woken()


async def test_campaigns_are_counted_by_state(yard: Yard, own: OwnSession) -> None:
    loop = overdue(own, yard.metrics.maintenance)
    for name in ("runs", "rests", "hangs"):
        yard.database.execute(START, name)
    yard.database.execute("select switchyard.pause_campaign('rests', 'ann', 'lunch')")
    long_ago = (
        "update switchyard.thread set last_update = now() - interval '61 minutes' where action_uuid = %s"
    )
    [(hangs,)] = yard.database.execute("select action_uuid from switchyard.campaign where name = 'hangs'")
    yard.database.execute(long_ago, hangs)
    yard.database.execute("update switchyard.tally set at = now() - interval '61 minutes'")
    await loop.run_once()
    states = ("running", "paused", "stuck")
    assert [shown(yard, "campaigns", state=state) for state in states] == [1, 1, 1]
    yard.database.execute("select switchyard.cancel(%s, 'ann', 'wrong source')", hangs)
    await loop.run_once()
    assert [shown(yard, "campaigns", state=state) for state in states] == [1, 1, None]
