"""Functions for the children of a pool: what strangers' data may make an evaluation do."""

import ctypes
import os
import re
import resource
import signal
import time
from pathlib import Path
from typing import Any


def echo(value: Any) -> Any:
    return value


def spin() -> None:
    while True:
        pass


def match_for_ever() -> bool:
    return re.match(r"(a|aa)+$", "a" * 80 + "b") is not None


def sleep(seconds: float) -> str:
    time.sleep(seconds)
    return "slept"


def allocate(megabytes: int) -> int:
    return len(bytearray(megabytes * 2**20))


def nest(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def long(length: int) -> str:
    return "x" * length


def die(number: int) -> None:
    os.kill(os.getpid(), number)


def segfault() -> None:
    ctypes.string_at(0)


def die_once(marker: str) -> str:
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "second try"


def refuse() -> None:
    raise ValueError("not this one")


def pid() -> int:
    return os.getpid()


def pids() -> list[int]:
    return [os.getpid(), os.getppid()]


def environment() -> dict[str, str]:
    return dict(os.environ)


def memory_limit() -> int:
    return resource.getrlimit(resource.RLIMIT_AS)[0]


def wait_for(path: str) -> int:
    while not Path(path).exists():
        time.sleep(0.005)
    return os.getpid()


def touch_then_sleep(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    time.sleep(60)
