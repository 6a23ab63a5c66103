"""Real signals to real processes: what a supervisor or a person at a terminal would see."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

IN_LOOP = """
import asyncio, sys
from switchyard.process.signals import handled_in_loop

async def main():
    stopped = asyncio.Event()
    def stop(): print("stop", flush=True); stopped.set()
    def reload(): print("reload", flush=True)
    with handled_in_loop(stop, reload):
        print("up", flush=True)
        await stopped.wait()
        if "finish" not in sys.argv:
            await asyncio.Event().wait()

asyncio.run(main())
"""
ELSEWHERE = """
import asyncio, signal, threading
from switchyard.process.signals import handled_in_loop

def later():
    asleep.wait()
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

async def main():
    stopped = asyncio.Event()
    with handled_in_loop(stopped.set):
        thread.start()
        print("up", flush=True)
        asyncio.get_running_loop().call_later(0.2, asleep.set)
        await stopped.wait()
        print("stop", flush=True)

asleep = threading.Event()
thread = threading.Thread(target=later)
asyncio.run(main())
"""
STUCK = """
import os
from switchyard.process.signals import handled
with handled(lambda: os.write(1, b"stop\\n")):
    os.write(1, b"up\\n")
    while True:
        pass
"""


@contextmanager
def program(text: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", text, *words], stdout=subprocess.PIPE, text=True) as process:
        try:
            says(process, "up")
            yield process
        finally:
            process.kill()


def says(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == f"{line}\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_requests_a_stop(number: signal.Signals) -> None:
    with program(IN_LOOP, "finish") as process:
        process.send_signal(number)
        says(process, "stop")
        assert process.wait(60) == 0


@pytest.mark.parametrize("text", [IN_LOOP, STUCK])
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_the_second_signal_ends_at_once(text: str, second: signal.Signals) -> None:
    with program(text) as process:
        process.send_signal(signal.SIGTERM)
        says(process, "stop")
        process.send_signal(second)
        assert process.wait(60) == -second


def test_hup_reloads_as_often_as_it_comes_and_stops_nothing() -> None:
    with program(IN_LOOP, "finish") as process:
        for _ in range(3):
            process.send_signal(signal.SIGHUP)
            says(process, "reload")
        process.send_signal(signal.SIGTERM)
        says(process, "stop")
        assert process.wait(60) == 0


@pytest.mark.timeout(30)
def test_a_signal_that_another_thread_receives_wakes_the_loop() -> None:
    with program(ELSEWHERE) as process:
        says(process, "stop")
        assert process.wait(60) == 0


def test_hup_is_ignored_without_a_reload() -> None:
    with program(STUCK) as process:
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        says(process, "stop")


def test_handlers_are_put_back() -> None:
    from switchyard.process.signals import handled

    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)]
    with handled(lambda: None):
        assert signal.getsignal(signal.SIGTERM) is not before[0]
    assert [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)] == before
