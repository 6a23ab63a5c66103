import asyncio
import time
from collections.abc import Callable

import pytest

from switchyard.backoff import Backoff
from switchyard.errors import ConfigError, Transient
from switchyard.process.loop import MonotonicClock, Runner, run_together
from tests.unit.process.clock import FakeClock

Step = Callable[[Runner], float | None]


class Script:
    """A loop that does one step after the other, then stops its runner."""

    name = "script"

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.times: list[float] = []
        self.clock = FakeClock()
        self.runner = Runner(self, clock=self.clock, backoff=Backoff(base=1, longest=8), stall_after=60)

    async def run_once(self) -> float | None:
        await asyncio.sleep(0)
        self.times.append(self.clock.time)
        if len(self.times) > len(self.steps):
            self.runner.stop()
            return 0
        return self.steps[len(self.times) - 1](self.runner)


def failing(error: Exception) -> Step:
    def step(_runner: Runner) -> float | None:
        raise error

    return step


async def test_the_delay_is_slept() -> None:
    script = Script(lambda _: 5.0, lambda _: 0.25)
    await script.runner.run()
    assert script.times == [1000, 1005, 1005.25]


async def test_none_sleeps_until_woken() -> None:
    script = Script(lambda _: None)
    task = asyncio.create_task(script.runner.run())
    await script.clock.waited_on.wait()
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(script.times) == 1
    script.runner.wake()
    await task
    assert len(script.times) == 2


async def test_a_wake_during_the_step_is_not_lost() -> None:
    def woken(runner: Runner) -> None:
        runner.wake()

    script = Script(woken)
    await asyncio.wait_for(script.runner.run(), 60)
    assert len(script.times) == 2


async def test_wakes_are_taken_together() -> None:
    def woken(runner: Runner) -> float | None:
        for _ in range(100):
            runner.wake()
        return 3.0

    script = Script(woken, lambda _: 7.0)
    await script.runner.run()
    assert script.times == [1000, 1000, 1007]


async def test_no_delay_still_gives_the_others_a_turn() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    script = Script(*[lambda _: 0.0] * 50)
    task = asyncio.create_task(other())
    await script.runner.run()
    task.cancel()
    assert turns >= 50


async def test_a_loop_that_awaits_nothing_gives_the_others_a_turn_too() -> None:
    turns = 0

    class Busy:
        name = "busy"
        left = 50

        async def run_once(self) -> float | None:
            self.left -= 1
            if not self.left:
                runner.stop()
            return 0.0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    runner = Runner(Busy())
    task = asyncio.create_task(other())
    await runner.run()
    task.cancel()
    assert turns >= 40


async def test_failures_pause_longer_and_longer_and_success_forgets_them() -> None:
    script = Script(*[failing(ValueError("x"))] * 6, lambda _: 0.5, failing(Transient("y")))
    await script.runner.run()
    pauses = [wait for wait in script.clock.waits if wait is not None]
    for pause, full in zip(pauses, [1, 2, 4, 8, 8, 8, 0.5, 1], strict=True):
        assert 0.75 * min(full, 8) <= pause <= full


async def test_a_wake_does_not_cut_a_pause_short() -> None:
    def fail(runner: Runner) -> float | None:
        runner.wake()
        raise ValueError("x")

    script = Script(*[fail] * 3)
    await script.runner.run()
    assert script.times[3] - script.times[0] >= 0.75 * (1 + 2 + 4)


async def test_a_stop_does_cut_a_pause_and_a_sleep_short() -> None:
    def stopping(runner: Runner) -> float | None:
        runner.stop()
        raise ValueError("x")

    script = Script(stopping)
    await script.runner.run()
    assert script.clock.time == 1000
    sleeper = Script(lambda runner: runner.stop())
    await sleeper.runner.run()
    assert sleeper.runner.stopping


async def test_a_wrong_configuration_ends_the_loop() -> None:
    script = Script(failing(ConfigError("no")))
    with pytest.raises(ConfigError):
        await script.runner.run()


async def test_a_cancel_goes_through() -> None:
    script = Script(lambda _: None)
    task = asyncio.create_task(script.runner.run())
    await script.clock.waited_on.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_alive_means_not_overdue() -> None:
    alive: list[bool] = []

    def long_step(runner: Runner) -> float | None:
        script.clock.time += 59
        alive.append(runner.alive())
        script.clock.time += 2
        alive.append(runner.alive())
        runner.tick()
        alive.append(runner.alive())
        return None

    script = Script(long_step)
    task = asyncio.create_task(script.runner.run())
    await script.clock.waited_on.wait()
    script.clock.time += 1_000_000
    alive.append(script.runner.alive())
    assert alive == [True, False, True, True]
    script.runner.stop()
    await task


async def test_a_step_that_was_woken_early_and_hangs_is_overdue() -> None:
    hangs, go_on = asyncio.Event(), asyncio.Event()

    class Hanging:
        name = "hanging"
        steps = 0

        async def run_once(self) -> float | None:
            self.steps += 1
            if self.steps == 2:
                hangs.set()
                await go_on.wait()
            return None

    clock = FakeClock()
    runner = Runner(Hanging(), clock=clock, stall_after=60)
    task = asyncio.create_task(runner.run())
    await clock.waited_on.wait()
    assert runner.asleep
    runner.wake()
    await hangs.wait()
    assert not runner.asleep
    clock.time += 61
    assert not runner.alive()
    runner.stop()
    go_on.set()
    await task


async def test_all_have_ended_when_the_error_of_one_is_raised() -> None:
    ended: list[str] = []

    class Slow:
        name = "slow"

        async def run_once(self) -> float | None:
            for _ in range(20):
                await asyncio.sleep(0)
            ended.append(self.name)
            return None

    failing_one = Script(failing(ConfigError("no")))
    with pytest.raises(ConfigError):
        await run_together([Runner(Slow()), failing_one.runner])
    assert ended == ["slow"]
    assert failing_one.runner.name == "script"


async def test_one_that_fails_stops_the_others_in_order() -> None:
    ending = Script(failing(ConfigError("no")))
    sleeping = Script(lambda _: None)
    with pytest.raises(ConfigError):
        await run_together([sleeping.runner, ending.runner])
    assert sleeping.runner.stopping
    assert len(sleeping.times) == 1


async def test_the_real_clock() -> None:
    clock, event = MonotonicClock(), asyncio.Event()
    start = time.monotonic()
    await clock.wait(event, 0.01)
    assert clock.now() - start >= 0.01
    event.set()
    await clock.wait(event, None)


async def test_a_loop_that_sleeps_longer_than_the_limit_is_alive() -> None:
    script = Script(lambda _: 600.0)
    asleep = asyncio.Event()

    async def wait(event: asyncio.Event, seconds: float | None) -> None:
        assert seconds == 600.0
        asleep.set()
        await event.wait()

    script.clock.wait = wait  # type: ignore[method-assign]
    task = asyncio.create_task(script.runner.run())
    await asleep.wait()
    script.clock.time += 600 + 59
    assert script.runner.alive()
    script.clock.time += 2
    assert not script.runner.alive()
    script.runner.stop()
    await task
