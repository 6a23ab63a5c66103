"""The handler of type `python`, with its real processes."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from switchyard.backends.python.handler import PythonHandler
from switchyard.backends.python.model import PythonAction
from switchyard.config.problems import InvalidConfig
from switchyard.errors import ConfigError
from switchyard.handlers import Failed, HandlerContext, Invalid, Retry, Success
from switchyard.places import Places
from switchyard.store import open_store
from switchyard.testing import make_work
from switchyard.testing.plugin import _loaded
from tests.waiting import eventually

SAMPLE = "tests.unit.backends.python.sample"
Started = Callable[..., Any]


@pytest.fixture
async def started(tmp_path: Path) -> AsyncIterator[Started]:
    """Handlers of functions of the sample, started; they are closed with the test."""
    context = HandlerContext(
        SimpleNamespace(conductor=SimpleNamespace(workers=1)), open_store(tmp_path.as_uri()), {}
    )
    async with AsyncExitStack() as stack:

        async def start(function: str, **settings: Any) -> PythonHandler:
            given = {"function": f"{SAMPLE}:{function}", "concurrency": 1, **settings}
            handler = PythonHandler("sample", PythonAction.model_validate(given), context)
            stack.push_async_callback(handler.close)
            await handler.start()
            return handler

        yield start


def output(folder: Path, work: Any) -> Any:
    return json.loads((folder / Places(work.uuid, work.run).output).read_text())


@pytest.mark.parametrize(
    ("function", "parameters", "result"),
    [("add", {"a": 2}, 3), ("add", {"a": 2, "b": 5}, 7), ("later", {"word": "hi"}, "HI")],
)
async def test_a_function_is_called_and_its_result_stored(
    started: Started, tmp_path: Path, function: str, parameters: dict[str, Any], result: object
) -> None:
    handler, work = await started(function), make_work(parameters)
    assert await handler.dispatch(work) == Success({"output": Places(work.uuid, 1).output})
    assert output(tmp_path, work) == {"result": result}


async def test_no_result_leaves_no_output(started: Started, tmp_path: Path) -> None:
    handler = await started("nothing")
    assert await handler.dispatch(make_work()) == Success()
    assert not (tmp_path / "executions").exists()


async def test_a_function_sees_which_attempt_it_is(started: Started, tmp_path: Path) -> None:
    handler = await started("who")
    work = make_work(run=2, attempt=3, last_attempt=True, action_name="sample")
    await handler.dispatch(work)
    assert output(tmp_path, work)["result"] == [str(work.uuid), 2, 3, True, "sample"]


Unsuccessful = type[Failed] | type[Invalid] | type[Retry]
ENDS: list[tuple[str, dict[str, Any], Unsuccessful, str]] = [
    ("add", {"c": 1}, Invalid, "missing a required argument: 'a'"),
    ("add", {"a": 1, "c": 1}, Invalid, "unexpected keyword argument 'c'"),
    ("fail", {"kind": "plain"}, Retry, "RuntimeError: no such tile"),
    ("fail", {"kind": "exit"}, Retry, "SystemExit: 3"),
    ("fail", {"kind": "fatal"}, Failed, "the file is not a raster"),
    ("not_json", {}, Failed, "cannot be stored as JSON"),
]


@pytest.mark.parametrize(("function", "parameters", "kind", "text"), ENDS)
async def test_how_it_ends(
    started: Started, function: str, parameters: dict[str, Any], kind: Unsuccessful, text: str
) -> None:
    outcome = await (await started(function)).dispatch(make_work(parameters))
    assert isinstance(outcome, kind)
    assert text in outcome.error


async def test_a_failure_has_its_traceback_and_a_retry_its_delay(started: Started) -> None:
    handler = await started("fail")
    outcome = await handler.dispatch(make_work({"kind": "later"}))
    assert isinstance(outcome, Retry)
    assert (outcome.error, outcome.delay) == ("busy", 90.0)
    assert "in fail" in outcome.detail["traceback"]


async def test_limits_end_one_call_and_the_next_one_works(started: Started) -> None:
    hog = await started("hog", limits={"memory": "64MiB"})
    assert await hog.dispatch(make_work()) == Failed(f"{SAMPLE}:hog exceeded its limit of memory")
    spin = await started("spin", limits={"cpu_time": "200ms"})
    for _ in range(2):
        outcome = await spin.dispatch(make_work())
        assert outcome == Failed(f"{SAMPLE}:spin exceeded its limit of CPU time")


async def test_a_cancelled_call_ends_its_process(started: Started, tmp_path: Path) -> None:
    """Conductor cancels a dispatch after `timeout`."""
    handler, marker = await started("hang"), tmp_path / "pid"
    call = asyncio.create_task(handler.dispatch(make_work({"marker": str(marker)})))
    await eventually(lambda: marker.exists() and marker.read_text())
    process = psutil.Process(int(marker.read_text()))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await eventually(lambda: not process.is_running())


async def test_a_crash_is_not_repeated_behind_our_back(started: Started, tmp_path: Path) -> None:
    """at_most_once means that the second attempt is conductor's decision."""
    handler, marker = await started("crash"), tmp_path / "calls"
    outcome = await handler.dispatch(make_work({"marker": str(marker)}))
    assert outcome == Retry(f"the process of {SAMPLE}:crash ended unexpectedly")
    assert marker.read_text() == "x"


async def test_the_environment_is_only_what_was_given(
    started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "1")
    monkeypatch.setenv("PASSED", "22")
    monkeypatch.setenv("HIDDEN", "a-secret-value")
    settings = {"env": {"PLAIN": "333", "TOKEN": "env:HIDDEN"}, "pass_env": ["PASSED"]}
    handler, work = await started("environment", **settings), make_work()
    await handler.dispatch(work)
    seen = output(tmp_path, work)["result"]
    assert {name: seen.get(name) for name in ("OURS", "PASSED", "PLAIN", "HIDDEN", "TOKEN")} == {
        "OURS": None, "PASSED": 2, "PLAIN": 3, "HIDDEN": None, "TOKEN": len("a-secret-value")
    }  # fmt: skip
    leaking = await started("secret", **settings)
    outcome = await leaking.dispatch(make_work())
    assert "refused" in outcome.error
    assert "a-secret-value" not in outcome.error + outcome.detail["traceback"]


async def test_calls_run_in_processes_of_their_own_side_by_side(started: Started, tmp_path: Path) -> None:
    handler = await started("hang", concurrency=2)
    markers = [tmp_path / "first", tmp_path / "second"]
    calls = [asyncio.create_task(handler.dispatch(make_work({"marker": str(each)}))) for each in markers]
    await eventually(lambda: all(each.exists() and each.read_text() for each in markers))
    pids = {int(each.read_text()) for each in markers}
    assert len(pids | {os.getpid()}) == 3
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("no_such", "has no attribute 'no_such'"),
        ("NOT_A_FUNCTION", "is not a function"),
    ],
)
async def test_a_function_that_cannot_be_imported_is_reported_at_the_start(
    started: Started, function: str, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        await started(function)


@pytest.mark.parametrize("function", ["os.system", "a:b:c", "a:b.c", "a b:c", ":c", "a:", "os:system; x"])
def test_a_function_is_a_module_and_a_name(function: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="function"):
        _loaded({"actions": {"a": {"type": "python", "function": function}}}, "postgresql:///x", tmp_path)
