"""A long poll in a thread of its own: its error is raised where it is awaited, its end delays nobody."""

import asyncio
import threading

import pytest

from switchyard.aws.polling import in_daemon_thread


async def test_its_result_and_its_error_arrive() -> None:
    assert await in_daemon_thread(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        await in_daemon_thread(lambda: 1 / 0)


async def test_a_result_that_nobody_waits_for_any_more_harms_nothing() -> None:
    begun, release, said = threading.Event(), threading.Event(), list[str]()
    threads: list[threading.Thread] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(str(context)))

    def poll() -> None:
        threads.append(threading.current_thread())
        begun.set()
        release.wait(20)

    polling = asyncio.create_task(in_daemon_thread(poll))
    await asyncio.to_thread(begun.wait, 20)
    polling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await polling
    release.set()
    await asyncio.to_thread(threads[0].join)
    await asyncio.sleep(0)
    assert said == []
