"""Activity: what each worker got done per minute, written with its heartbeat, gone after a day."""

from conductor.maintenance.lost_workers import LostWorkers
from conductor.maintenance.own_session import OwnSession
from switchyard.config.daemons import Workers
from switchyard.handlers import Failed, Outcome, Success, Work
from tests.integration.conductor.yard import Script, Yard
from tests.waiting import eventually

SUMS = (
    "select action_name, count(distinct worker_id), sum(ended)::int, sum(failed)::int, sum(busy_seconds) > 0"
    " from switchyard.activity group by 1"
)


def every_third_fails(seen: Script) -> Outcome:
    return Failed("no") if len(seen.works) % 3 == 0 else Success()


async def test_every_dispatch_is_counted_once_beside_other_workers(yard: Yard) -> None:
    script = Script()

    def answer(_: Work) -> Outcome:
        return every_third_fails(script)

    script.answer = answer
    quick = Workers.model_validate({"beat": "50ms", "lost_after": "5s"})
    served = yard.served(script)
    for _ in range(2):
        yard.start(served, workers=quick)
    for _ in range(3):
        yard.submit(20)
        await eventually(lambda: sum(yard.statuses().values()) % 20 == 0 and "PENDING" not in yard.statuses())
    await eventually(lambda: [row[2:4] for row in yard.database.execute(SUMS)] == [(60, 20)])
    await yard.stop()  # the last beat adds nothing that was counted before
    [(name, workers, ended, failed, busy)] = yard.database.execute(SUMS)
    assert (name, ended, failed, busy) == ("drill", 60, 20, True)
    assert 1 <= workers <= 2


async def test_what_was_done_since_the_last_beat_is_written_at_the_end(yard: Yard) -> None:
    yard.submit(7)
    await yard.drain(yard.served())
    assert [row[2:4] for row in yard.database.execute(SUMS)] == [(7, 0)]


async def test_it_is_removed_after_a_day(yard: Yard) -> None:
    yard.database.execute(
        "insert into switchyard.activity select date_trunc('minute', now()) - make_interval(hours => h), 'x', gen_random_uuid(), 1, 0, 1"
        " from unnest(array[1, 23, 25, 48]) as h"
    )
    own = OwnSession(yard.database.url)
    try:
        await LostWorkers(own, Workers(), yard.metrics.maintenance).run_once()
    finally:
        await own.close()
    left = yard.database.execute(
        "select extract(hours from now() - minute)::int from switchyard.activity order by 1"
    )
    assert left == [(1,), (23,)]
