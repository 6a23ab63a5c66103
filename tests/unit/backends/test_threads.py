"""Blocking calls in threads of their own: bounded, and never in anybody else's way."""

import asyncio
import threading

import pytest

from switchyard.backends.threads import Threads


async def test_results_and_errors_arrive() -> None:
    threads = Threads(1)
    assert await threads.run(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        await threads.run(lambda: 1 / 0)
    assert await threads.run(max, 1, 2) == 2


async def test_a_result_that_is_not_a_longer_awaited_harms_nothing() -> None:
    begun, release, said = threading.Event(), threading.Event(), list[str]()
    running: list[threading.Thread] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(str(context)))

    def poll() -> None:
        running.append(threading.current_thread())
        begun.set()
        release.wait(20)

    polling = asyncio.create_task(Threads(1).run(poll))
    await asyncio.to_thread(begun.wait, 20)
    polling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await polling
    release.set()
    await asyncio.to_thread(running[0].join)
    await asyncio.sleep(0)
    assert said == []


async def test_hole_15_calls_that_hang_occupy_only_their_own_threads() -> None:
    """A call that was given up counts until it ends; asyncio's executor stays free all the while."""
    release = threading.Event()
    hanging = Threads(2)
    given_up = [asyncio.create_task(hanging.run(release.wait, 200)) for _ in range(20)]
    await asyncio.sleep(0.01)
    for task in given_up:
        task.cancel()
    await asyncio.gather(*given_up, return_exceptions=True)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(hanging.run(lambda: None), 0.05)
    assert await asyncio.wait_for(asyncio.to_thread(lambda: 1), 60) == 1
    assert await asyncio.wait_for(Threads(2).run(lambda: 2), 60) == 2
    release.set()
    assert await asyncio.wait_for(hanging.run(lambda: 3), 60) == 3
