"""Functions that the tests run as actions."""

import asyncio
import os
import signal
import time
from typing import Any

from switchyard.tasks import TaskFailed, TaskRetry, current

NOT_A_FUNCTION = 7


def add(a: int, b: int = 1) -> int:
    return a + b


async def later(word: str) -> str:
    await asyncio.sleep(0)
    return word.upper()


def who() -> list[Any]:
    attempt = current()
    return [str(attempt.uuid), attempt.run, attempt.attempt, attempt.last_attempt, attempt.action_name]


def environment() -> dict[str, int]:
    """How long each value is: the values stay where they are."""
    return {name: len(value) for name, value in os.environ.items()}


def nothing() -> None:
    """No result."""


def fail(kind: str) -> None:
    errors: dict[str, BaseException] = {
        "plain": RuntimeError("no such tile"),
        "fatal": TaskFailed("the file is not a raster"),
        "later": TaskRetry("busy", 90.0),
        "exit": SystemExit(3),
    }
    raise errors[kind]


def secret() -> None:
    raise RuntimeError(f"refused: {os.environ['TOKEN']}")


def not_json() -> object:
    return object()


def hog() -> int:
    return len(bytearray(2**30))


def spin() -> None:
    while True:
        pass


def hang(marker: str) -> None:
    with open(marker, "w") as file:  # noqa: PTH123
        file.write(str(os.getpid()))
    time.sleep(3600)


def crash(marker: str) -> None:
    with open(marker, "a") as file:  # noqa: PTH123
        file.write("x")
    os.kill(os.getpid(), signal.SIGSEGV)
