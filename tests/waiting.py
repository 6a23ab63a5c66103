"""Waiting for something to become true, with a deadline instead of a sleep that guesses."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(predicate: Callable[[], T], seconds: float = 60.0, every: float = 0.02) -> T:
    """Return the predicate's first true value; fail when it stays false for `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = predicate()
        if value:
            return value
        assert time.monotonic() < deadline, f"not true within {seconds} s: {predicate}"
        time.sleep(every)


async def eventually(predicate: Callable[[], T], seconds: float = 60.0, every: float = 0.02) -> T:
    """The same, without holding up the event loop."""
    deadline = time.monotonic() + seconds
    while not (value := predicate()):
        assert time.monotonic() < deadline, f"not true within {seconds} s: {predicate}"
        await asyncio.sleep(every)
    return value
