"""The pool of evaluating processes: limits, replacement, fairness, cancellation and its end."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from switchyard.errors import EvaluationFailed, LimitExceeded, PoolUnavailable
from switchyard.process.bounded.pool import LARGEST_RESULT, Pool
from switchyard.process.bounded.server import Server
from tests.unit.process import hostile
from tests.waiting import until


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool(size=2)
    yield made
    made.close()


@pytest.mark.parametrize("value", [None, 0, 1.5, "ü", [1, {"a": [None]}], {"k": "\ud800"}, 2**70])
async def test_a_result_comes_back_as_it_was(pool: Pool, value: object) -> None:
    assert await pool.run(hostile.echo, value) == value


def test_a_plain_thread_can_call_it(pool: Pool) -> None:
    assert pool.call(hostile.echo, 7) == 7


async def test_an_exception_has_its_kind_and_message(pool: Pool) -> None:
    with pytest.raises(EvaluationFailed, match="ValueError: not this one") as caught:
        await pool.run(hostile.refuse)
    assert caught.value.kind == "ValueError"


@pytest.mark.parametrize("function", [hostile.spin, hostile.match_for_ever])
async def test_cpu_time_is_limited_in_python_and_in_c(pool: Pool, function: object) -> None:
    with pytest.raises(LimitExceeded) as caught:
        await pool.run(function, seconds=0.2)  # type: ignore[arg-type]
    assert caught.value.limit == "CPU time"


async def test_waiting_costs_no_cpu_time(pool: Pool) -> None:
    assert await pool.run(hostile.sleep, 0.5, seconds=0.1) == "slept"


async def test_elapsed_time_is_limited(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await pool.run(hostile.echo, 1) == 1
    server = pool._server._running
    with monkeypatch.context() as patch:
        patch.setattr("switchyard.process.bounded.pool.ELAPSED", (0.2, 0.0))
        with pytest.raises(LimitExceeded) as caught:
            await pool.run(hostile.sleep, 60)
    assert caught.value.limit == "elapsed time"
    assert await pool.run(hostile.echo, 2) == 2
    assert pool._server._running is server, "ending one child costs the others nothing"


def test_a_child_is_ended_once() -> None:
    """The server would end by a second request for a process that it has reaped."""
    server = Server(["tests.unit.process.hostile"])
    with closing(server):
        child = server.fork()
        os.kill(child.pid, signal.SIGSEGV)
        until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE, 30)
        assert [child.end(), child.end()] == [signal.SIGSEGV] * 2
        running = server._running
        assert server.fork().end() in (signal.SIGKILL, 0)  # it may see that nobody is there any more first
        assert server._running is running, "it is the same server"


async def test_memory_is_limited_from_the_childs_own_size(pool: Pool) -> None:
    assert await pool.run(hostile.allocate, 8, memory=32 * 2**20) == 8 * 2**20
    with pytest.raises(LimitExceeded) as caught:
        await pool.run(hostile.allocate, 64, memory=32 * 2**20)
    assert caught.value.limit == "memory"


@pytest.mark.parametrize(
    ("function", "argument", "limit"),
    [(hostile.long, LARGEST_RESULT, "result"), (hostile.nest, 100_000, "depth")],
)
async def test_a_result_is_limited_in_size_and_depth(
    pool: Pool, function: object, argument: int, limit: str
) -> None:
    with pytest.raises(LimitExceeded) as caught:
        await pool.run(function, argument)  # type: ignore[arg-type]
    assert caught.value.limit == limit


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV])
async def test_a_crash_is_that_calls_failure(pool: Pool, number: int) -> None:
    with pytest.raises(LimitExceeded) as caught:
        await pool.run(hostile.die, int(number))
    assert caught.value.limit == "crash"
    assert await pool.run(hostile.echo, "next") == "next"


async def test_a_segmentation_fault_is_that_calls_failure(pool: Pool) -> None:
    with pytest.raises(LimitExceeded, match="ended its process twice"):
        await pool.run(hostile.segfault)


async def test_a_child_killed_from_outside_costs_no_call(pool: Pool, tmp_path: Path) -> None:
    assert await pool.run(hostile.die_once, str(tmp_path / "marker")) == "second try"


async def test_a_killed_server_is_started_again(pool: Pool) -> None:
    child, server = await pool.run(hostile.pids)
    os.kill(server, signal.SIGKILL)
    await asyncio.to_thread(until, lambda: not _runs(child))
    answers = [await pool.run(hostile.pids) for _ in range(4)]
    assert server not in {parent for _, parent in answers}


def test_a_server_that_was_killed_unnoticed_costs_no_fork() -> None:
    server = Server([])
    try:
        first = server.fork()
        assert server._running is not None
        server._running._process.kill()
        server._running._process.wait()
        assert not server._running.broken, "nobody has noticed"
        second = server.fork()
        assert second.pid != first.pid
        second.end()
        first.end()
    finally:
        server.close()


async def test_an_exceeded_limit_replaces_one_child_and_no_other() -> None:
    pool = Pool(size=1)
    try:
        before = await pool.run(hostile.pid)
        assert await pool.run(hostile.pid) == before
        with pytest.raises(LimitExceeded):
            await pool.run(hostile.spin, seconds=0.05)
        assert await pool.run(hostile.pid) != before
    finally:
        pool.close()


async def test_other_calls_do_not_notice(pool: Pool) -> None:
    async def bad() -> str:
        with pytest.raises(LimitExceeded) as caught:
            await pool.run(hostile.spin, seconds=0.1, group="bad")
        return caught.value.limit

    results = await asyncio.gather(
        *(bad() for _ in range(4)), *(pool.run(hostile.echo, n, group="good") for n in range(200))
    )
    assert results == ["CPU time"] * 4 + list(range(200))


async def test_one_group_leaves_a_child_to_the_others(pool: Pool, tmp_path: Path) -> None:
    release = tmp_path / "release"
    slow = [asyncio.ensure_future(pool.run(hostile.wait_for, str(release), group="slow")) for _ in range(5)]
    assert await asyncio.wait_for(pool.run(hostile.echo, 1, group="other"), 60) == 1
    release.touch()
    await asyncio.gather(*slow)


async def test_groups_take_turns(tmp_path: Path) -> None:
    pool = Pool(size=1)
    order: list[str] = []

    async def one(group: str) -> None:
        await pool.run(hostile.echo, group, group=group)
        order.append(group)

    try:
        release = tmp_path / "release"
        holding = asyncio.ensure_future(pool.run(hostile.wait_for, str(release)))
        waiting = [asyncio.ensure_future(one(group)) for group in "aaab"]
        await asyncio.sleep(0)
        release.touch()
        await asyncio.gather(holding, *waiting)
        assert order == ["a", "b", "a", "a"]
    finally:
        pool.close()


async def test_the_queue_is_bounded(tmp_path: Path) -> None:
    pool = Pool(size=1, waiting=3)
    release = tmp_path / "release"
    try:
        started = tmp_path / "started"
        holding = asyncio.ensure_future(pool.run(hostile.touch_then_sleep, str(started)))
        await asyncio.to_thread(until, started.exists)
        waiting = [asyncio.ensure_future(pool.run(hostile.echo, n)) for n in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(PoolUnavailable, match="3 evaluations are waiting already"):
            await pool.run(hostile.echo, 4)
        holding.cancel()
        assert await asyncio.gather(*waiting) == [0, 1, 2]
    finally:
        release.touch()
        pool.close()


async def test_cancelling_frees_the_child(tmp_path: Path) -> None:
    pool = Pool(size=1)
    try:
        started = tmp_path / "started"
        task = asyncio.ensure_future(pool.run(hostile.touch_then_sleep, str(started)))
        await asyncio.to_thread(until, lambda: started.exists() and bool(started.read_text()))
        child = int(started.read_text())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await pool.run(hostile.pid) != child
        assert not psutil.pid_exists(child)
    finally:
        pool.close()


async def test_a_call_cancelled_while_it_waits_never_runs(tmp_path: Path) -> None:
    pool = Pool(size=1)
    try:
        release, ran = tmp_path / "release", tmp_path / "ran"
        holding = asyncio.ensure_future(pool.run(hostile.wait_for, str(release)))
        waiting = asyncio.ensure_future(pool.run(hostile.touch_then_sleep, str(ran)))
        await asyncio.sleep(0)
        waiting.cancel()
        release.touch()
        child = await holding
        assert await pool.run(hostile.pid) == child
        assert not ran.exists()
    finally:
        pool.close()


async def test_close_ends_calls_and_children(tmp_path: Path) -> None:
    pool = Pool(size=1)
    started = tmp_path / "started"
    running = asyncio.ensure_future(pool.run(hostile.touch_then_sleep, str(started)))
    waiting = asyncio.ensure_future(pool.run(hostile.echo, 1))
    await asyncio.to_thread(until, lambda: started.exists() and bool(started.read_text()))
    await asyncio.to_thread(pool.close)
    results = await asyncio.gather(running, waiting, return_exceptions=True)
    assert [type(result) for result in results] == [PoolUnavailable, PoolUnavailable]
    assert not psutil.pid_exists(int(started.read_text()))
    with pytest.raises(PoolUnavailable, match="closed"):
        await pool.run(hostile.echo, 1)


def test_closing_a_pool_that_was_never_used() -> None:
    Pool().close()


def test_many_threads_at_once(pool: Pool) -> None:
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda n=n: results.append(pool.call(hostile.echo, n))) for n in range(30)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(30))


async def test_children_get_no_secret_from_the_environment(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWITCHYARD_DATABASE__URL", "postgresql://u:hidden@h/d")
    assert "hidden" not in json.dumps(await pool.run(hostile.environment))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_for_the_whole_group_does_not_end_the_children(pool: Pool, number: int) -> None:
    child, server = await pool.run(hostile.pids)
    os.kill(server, number)
    os.kill(child, number)
    answers = [await pool.run(hostile.pids) for _ in range(4)]
    assert {parent for _, parent in answers} == {server}
    assert _runs(child)


PARENT = """
import sys
from pathlib import Path
from switchyard.process.bounded.pool import Pool
from tests.unit.process import hostile
pool = Pool(size=2)
print(*pool.call(hostile.pids), flush=True)
pool.call(hostile.{function})
"""


@pytest.mark.parametrize("function", ["spin", "refuse"])
def test_children_end_with_a_parent_that_is_killed_or_does_not_close_them(function: str) -> None:
    command = [sys.executable, "-c", PARENT.format(function=function)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        if function == "spin":
            parent.kill()
    deadline = time.monotonic() + 60
    while any(psutil.pid_exists(pid) and _runs(pid) for pid in pids):
        assert time.monotonic() < deadline, "a child outlived its parent"
        time.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
