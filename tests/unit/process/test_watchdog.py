"""What blocks the event loop is named while it does."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from switchyard.process.log import configure
from switchyard.process.metrics import Metrics
from switchyard.process.watchdog import watched

pytestmark = pytest.mark.usefixtures("logging_as_before")


def sleeps_in_the_loop() -> None:
    time.sleep(1.8)


def matches_in_the_loop() -> None:
    """C code that holds the interpreter lock: as long as it takes to be blocked for well over a second."""
    started, letters = time.monotonic(), 20
    while time.monotonic() - started < 1.8:
        started, letters = time.monotonic(), letters + 1
        re.match(r"(a|aa)+$", "a" * letters + "b")


@pytest.mark.parametrize("culprit", [sleeps_in_the_loop, matches_in_the_loop])
async def test_a_blocked_loop_is_counted_and_the_culprit_named(
    culprit: object, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(json=True)
    metrics = Metrics("test")
    with watched(metrics):
        await asyncio.sleep(0.3)
        culprit()  # type: ignore[operator]
        await asyncio.sleep(0.6)
    logged = capsys.readouterr().err
    assert "the event loop is blocked" in logged
    assert "no longer blocked" in logged
    assert culprit.__name__ in logged  # type: ignore[attr-defined]
    assert (metrics.registry.get_sample_value("switchyard_test_loop_blocked_total") or 0) >= 1
    assert (metrics.registry.get_sample_value("switchyard_test_loop_blocked_seconds_total") or 0) > 1


async def test_a_loop_that_answers_is_not_reported(capsys: pytest.CaptureFixture[str]) -> None:
    configure(json=True)
    metrics = Metrics("test")
    with watched(metrics):
        await asyncio.sleep(0.6)
    assert metrics.registry.get_sample_value("switchyard_test_loop_blocked_seconds_total") == 0
    assert "blocked" not in capsys.readouterr().err


STOPPED = """
import asyncio, sys
from switchyard.process.log import configure
from switchyard.process.metrics import Metrics
from switchyard.process.watchdog import watched
async def main():
    with watched(Metrics("test")):
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        await asyncio.sleep(0.6)
configure(json=True)
asyncio.run(main())
"""


def test_a_process_that_was_stopped_is_not_reported() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(2.5)
        os.kill(process.pid, signal.SIGCONT)
        _, logged = process.communicate("\n")
    assert process.returncode == 0
    assert "blocked" not in logged
