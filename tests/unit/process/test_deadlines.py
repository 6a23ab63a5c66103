"""One timer for many: each is cut at its own time, and only by its own limit."""

import asyncio

import pytest

from switchyard.process.deadline import Deadlines


async def limited(deadlines: Deadlines, seconds: float) -> float:
    began = asyncio.get_running_loop().time()
    try:
        with deadlines.limit():
            await asyncio.sleep(seconds)
    except TimeoutError:
        return asyncio.get_running_loop().time() - began
    return -1.0


async def test_each_is_cut_at_its_own_time_and_the_quick_ones_are_not() -> None:
    deadlines = Deadlines(0.2)
    tasks = []
    for number in range(10):
        tasks.append(asyncio.create_task(limited(deadlines, 0.0 if number % 2 else 60.0)))
        await asyncio.sleep(0.03)  # not a wait: each begins at a time of its own
    took = await asyncio.gather(*tasks)
    assert all(seconds == -1.0 for seconds in took[1::2])
    assert all(0.2 <= seconds < 0.6 for seconds in took[0::2])


async def test_nothing_is_left_behind_by_what_ended_in_time() -> None:
    deadlines = Deadlines(0.05)
    with deadlines.limit():
        pass
    await asyncio.sleep(0.15)  # its time is over now, and strikes nobody
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_cancellation_from_outside_stays_one() -> None:
    task = asyncio.create_task(limited(Deadlines(60.0), 60.0))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_that_comes_with_the_strike_is_not_swallowed() -> None:
    entered = asyncio.Event()

    async def stubborn() -> None:
        with Deadlines(0.05).limit():
            entered.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                await asyncio.sleep(60)
                raise

    task = asyncio.create_task(stubborn())
    await entered.wait()
    await asyncio.sleep(0.15)  # its time is over now: it was struck
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_inner_limit_of_two_leaves_the_outer_one_alone() -> None:
    inner, outer = Deadlines(0.05), Deadlines(60.0)
    with outer.limit():
        with pytest.raises(TimeoutError), inner.limit():
            await asyncio.sleep(60)
        await asyncio.sleep(0)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
