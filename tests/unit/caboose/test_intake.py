"""What waits to be dealt with: bounded, in order, and never the same twice."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from caboose.leader import Leader
from caboose.observe.intake import Intake
from caboose.queries import Queries
from switchyard.backends.local.model import LocalAction
from switchyard.backends.local.source import LocalSource
from switchyard.sources import Observation
from switchyard.status import Status

U = UUID("0190163d-8694-739b-aea5-966c26f8ad91")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def intake(room: int = 10) -> tuple[Intake, Clock]:
    clock = Clock()
    return Intake(LocalSource(LocalAction()), Leader(Queries("", "")), room, clock), clock


def running(run: int = 1) -> Observation:
    return Observation(U, run, Status.RUNNING)


async def test_new_ones_wake_the_loop_and_are_taken_in_order() -> None:
    box, _ = intake()
    woken: list[None] = []
    box.on_arrival = lambda: woken.append(None)
    for run in (1, 2, 3):
        await box.put(running(run))
    assert len(woken) == 3
    assert box.next_in() == 0.0
    assert [seen.run for seen in box.take(2) if isinstance(seen, Observation)] == [1, 2]
    assert len(box.take(2)) == 1
    assert box.next_in() is None


async def test_a_source_that_ends_is_observed_again() -> None:
    box, _ = intake()

    async def observations() -> AsyncIterator[Observation]:
        yield running()

    box._source.observations = observations  # type: ignore[method-assign]
    assert await box.run_once() == 1.0
    assert box.take(9) == [running()]


async def test_what_is_put_back_comes_again_when_it_is_due() -> None:
    box, clock = intake()
    box.put_back([running()], 5.0)
    assert box.take(9) == []
    assert box.next_in() == 5.0
    clock.now = 5.0
    assert box.next_in() == 0.0
    assert box.take(9) == [running()]
    assert box.waiting == 0


async def test_the_same_reported_twice_waits_once_but_a_message_is_like_no_other() -> None:
    box, _ = intake()
    box.put_back([running(), running()], 1.0)
    assert box.waiting == 1
    message = Observation(U, 1, Status.RUNNING, handle="receipt")
    box.put_back([message, message], 1.0)
    assert box.waiting == 3


async def test_nothing_new_is_taken_while_too_much_waits() -> None:
    box, clock = intake(room=2)
    box.put_back([running(1), running(2)], 5.0)
    await box.put(running(3))
    assert box.take(9) == []
    assert box.next_in() == 5.0, "an arrival alone helps nobody"
    clock.now = 5.0
    assert len(box.take(9)) == 3


async def test_what_was_put_back_and_taken_may_be_put_back_again() -> None:
    box, clock = intake()
    for _ in range(3):
        box.put_back([running()], 1.0)
        assert box.waiting == 1
        clock.now += 1.0
        assert box.take(9) == [running()]


async def test_another_status_of_the_same_run_waits_beside_the_first() -> None:
    box, clock = intake()
    end = Observation(U, 1, Status.SUCCESSFUL)
    box.put_back([running(1), running(2), end], 1.0)
    assert box.waiting == 3
    clock.now += 1.0
    assert box.take(9) == [running(1), running(2), end]


async def test_what_was_set_aside_comes_in_a_batch_of_its_own_and_later_the_more_there_is() -> None:
    box, clock = intake(room=2)
    box.put_back([running(1)], 4.0, aside=True)
    box.put_back([running(2)], 4.0, aside=True)
    assert (box.waiting, box.next_in()) == (2, 4.0)
    clock.now = 4.0
    assert box.take(9) == []
    assert box.take_aside(9) == [running(1)]
    clock.now = 5.9
    assert box.take_aside(9) == []
    clock.now = 6.0
    assert box.next_in() == 0.0
    assert box.take_aside(9) == [running(2)]
    assert box.next_in() is None


async def test_what_is_set_aside_is_limited_and_the_oldest_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("caboose.observe.intake.MOST_ASIDE", 2)
    box, clock = intake()
    for run in (1, 2, 3):
        box.put_back([running(run)], float(run), aside=True)
    assert box.waiting == 2
    box.put_back([running(1)], 1.0)  # it was dropped, so it is new
    assert box.waiting == 3
    clock.now = 10.0
    assert box.take_aside(1) == [running(2)]
    assert box.take_aside(9) == [running(3)]
