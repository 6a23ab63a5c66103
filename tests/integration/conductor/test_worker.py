"""The engine end to end on one worker: dispatch, outcomes, retry, order, slots, waking."""

import time

import pytest

from conductor.session.session import ROUND_TRIP_EVERY
from switchyard.handlers import Failed, HandedOver, Invalid, Outcome, Retry, Success
from tests.integration.conductor.yard import Script, Yard, ended_once
from tests.waiting import eventually

pytestmark = pytest.mark.database


async def test_batches_end_successful_and_the_row_is_closed(yard: Yard) -> None:
    uuids = yard.submit(1_234)
    await yard.drain(yard.served(), batch=500)
    assert yard.statuses() == {"SUCCESSFUL": 1_234}
    assert yard.events(uuids[0]) == [("SUCCESSFUL", 1, False)]
    rows = yard.database.execute(
        "select kind, slots, done, failed, ended_at is not null, lost_at from switchyard.worker"
    )
    assert rows == [("conductor", 500, 1_234, 0, True, None)]


OUTCOMES = [
    (Success({"a": "b\0"}), "SUCCESSFUL"),
    (HandedOver(), "QUEUED"),
    (Failed("no"), "FAILED"),
    (Invalid("bad"), "INVALID"),
    (Retry("later"), "BACKOFF"),
]


@pytest.mark.parametrize(("outcome", "status"), OUTCOMES)
async def test_each_outcome_is_one_event(yard: Yard, outcome: Outcome, status: str) -> None:
    [uuid] = yard.submit()
    await yard.drain(yard.served(Script(lambda _: outcome), retry={"base": "1h", "max": "2h"}))
    assert yard.events(uuid) == [(status, 1, False)]
    [[needs_review]] = yard.database.execute(
        "select needs_review from switchyard.thread where action_uuid = %s", uuid
    )
    assert needs_review == (status in ("FAILED", "INVALID"))


async def test_a_retry_comes_back_when_it_is_due_and_is_exhausted_in_the_end(yard: Yard) -> None:
    [uuid] = yard.submit()
    handler = Script(lambda _: Retry("not yet"))
    yard.start(yard.served(handler, retry={"attempts": 4, "base": "50ms", "max": "50ms"}))
    await eventually(lambda: yard.statuses() == {"RETRIES_EXHAUSTED": 1})
    backoffs: list[tuple[str, int, bool]] = [("BACKOFF", n, False) for n in (1, 2, 3)]
    assert yard.events(uuid) == [*backoffs, ("RETRIES_EXHAUSTED", 4, False)]
    assert [work.attempt for work in handler.works] == [1, 2, 3, 4]
    assert [work.last_attempt for work in handler.works] == [False, False, False, True]


async def test_a_handler_that_raises_or_hangs_is_retried(yard: Yard) -> None:
    yard.submit(2)
    handler = Script()
    handler.gate.clear()
    served = yard.served(handler, timeout="100ms", retry={"base": "1h", "max": "1h"})
    await yard.drain(served)
    assert yard.statuses() == {"BACKOFF": 2}

    def broken(_: object) -> Outcome:
        raise RuntimeError("a bug")

    yard.submit(1)
    await yard.drain(yard.served(Script(broken), retry={"base": "1h", "max": "1h"}))
    errors = {row[0] for row in yard.database.execute("select error from switchyard.thread")}
    assert errors == {"no outcome within 0.1 s", "RuntimeError: a bug"}


async def test_priority_then_age(yard: Yard) -> None:
    late = yard.submit(3)
    early = yard.database.execute(
        "insert into switchyard.action (action_name, priority) values ('drill', 1), ('drill', 1)"
        " returning action_uuid"
    )
    handler = Script()
    await yard.drain(yard.served(handler, concurrency=1))
    assert [work.uuid for work in handler.works] == [uuid for (uuid,) in early] + late


async def test_a_slow_action_holds_up_only_its_own_slot(yard: Yard) -> None:
    [slow, *quick] = yard.submit(21)
    handler = Script()
    handler.gate.clear()
    handler.only = slow
    yard.start(yard.served(handler, concurrency=2))
    await eventually(lambda: ended_once(yard, quick))
    assert yard.events(slow) == []
    handler.gate.set()
    await eventually(lambda: ended_once(yard, [slow]))


async def test_a_full_queue_of_one_name_does_not_delay_another(yard: Yard) -> None:
    stuck = Script()
    stuck.gate.clear()
    yard.submit(100)
    other = yard.submit(1, "other")
    yard.start(yard.served(stuck, concurrency=5))
    await eventually(lambda: stuck.flying == 5)
    yard.start(yard.served(name="other"))
    await eventually(lambda: ended_once(yard, other))
    assert stuck.flying == 5
    stuck.gate.set()


async def test_a_bell_wakes_a_sleeper(yard: Yard) -> None:
    yard.start(yard.served(), poll="1h")
    await eventually(lambda: yard.armed() == 1)
    began = time.monotonic()
    uuids = yard.submit(1)
    await eventually(lambda: ended_once(yard, uuids))
    assert time.monotonic() - began < 2.5  # nothing but the bell could have been so quick


async def test_a_future_start_is_stored_and_then_met(yard: Yard) -> None:
    yard.start(yard.served(), poll="1h")
    [[uuid]] = yard.database.execute(
        "insert into switchyard.action (action_name, start_after)"
        " values ('drill', clock_timestamp() + interval '700 ms') returning action_uuid"
    )
    await eventually(lambda: ended_once(yard, [uuid]))
    [[early]] = yard.database.execute(
        "select e.event_time < a.start_after from switchyard.event e join switchyard.action a using (action_uuid)"
    )
    assert not early


async def test_a_paused_name_waits_for_its_resume(yard: Yard) -> None:
    yard.database.execute("select switchyard.pause('drill', 'test', 'because')")
    uuids = yard.submit(3)
    yard.start(yard.served())
    await eventually(lambda: yard.armed() == 1)  # it has looked, and sleeps
    assert yard.statuses() == {"PENDING": 3}
    yard.database.execute("select switchyard.resume('drill', 'test', 'done')")
    await eventually(lambda: ended_once(yard, uuids))


async def test_a_stop_finishes_what_flies_and_releases_what_does_not_end(yard: Yard) -> None:
    [uuid] = yard.submit(1)
    handler = Script()
    handler.gate.clear()
    yard.start(yard.served(handler), grace="200ms")
    await eventually(lambda: handler.flying == 1)
    await yard.stop()
    assert yard.events(uuid) == []  # no attempt spent
    assert handler.cancelled == 1
    handler.gate.set()
    await yard.drain(yard.served(handler))
    assert yard.events(uuid) == [("SUCCESSFUL", 1, False)]


async def test_many_workers_double_nothing(yard: Yard) -> None:
    uuids = yard.submit(3_000)
    names = [yard.served() for _ in range(4)]
    await yard.drain(*names, batch=50)
    assert ended_once(yard, uuids)
    [[events]] = yard.database.execute("select count(*) from switchyard.event")
    assert events == 3_000


async def test_an_outcome_is_recorded_when_it_is_there_and_not_at_the_next_round_trip(yard: Yard) -> None:
    handler = Script()
    yard.start(yard.served(handler))

    async def delay() -> float:
        handler.gate.clear()
        [uuid] = yard.submit(1)
        await eventually(lambda: handler.flying == 1)
        began = time.monotonic()
        handler.gate.set()
        await eventually(lambda: ended_once(yard, [uuid]), every=0.01)
        return time.monotonic() - began

    delays = [await delay() for _ in range(5)]
    assert min(delays) < ROUND_TRIP_EVERY / 4, "the fastest of several: others may use the machine"
