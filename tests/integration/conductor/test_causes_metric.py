"""The metric of causes: how many there are, by trend, and nothing that is gone."""

from conductor.maintenance.gauges import causes
from conductor.maintenance.own_session import OwnSession
from tests.integration.conductor.yard import Yard

FAIL = "insert into switchyard.event (action_uuid, status, run, attempt, error) select u, 'FAILED', 1, 1, %s from unnest(%s::uuid[]) as u"


async def test_causes_are_counted_by_trend(yard: Yard) -> None:
    own = OwnSession(yard.database.url)
    loop = causes(own, yard.metrics.maintenance)
    try:
        first, second = yard.submit(3), yard.submit(2)
        yard.database.execute(FAIL, "answered 503", first)
        yard.database.execute(FAIL, "no disk", second)
        await loop.run_once()
        assert yard.metrics.maintenance.causes.labels("new")._value.get() == 2
        for uuid in first + second:
            yard.database.execute("select switchyard.dismiss_thread(%s, 'ann', 'known')", uuid)
        await loop.run_once()
        assert next(iter(yard.metrics.maintenance.causes.collect())).samples == []
    finally:
        await own.close()
