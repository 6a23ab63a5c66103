"""What was read a moment ago, where all who may ask get the same answer: pages ask for it often."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

MOST = 1000

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by their key, each read again after some seconds; the oldest of many are forgotten."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._read: OrderedDict[Hashable, tuple[float, Value]] = OrderedDict()

    async def get(self, key: Hashable, read: Callable[[], Awaitable[Value]]) -> Value:
        """The value, if it is young enough; else what `read` returns."""
        found = self._read.get(key)
        if found is not None and self._clock() - found[0] < self._seconds:
            return found[1]
        fresh = await read()
        self._read.pop(key, None)
        self._read[key] = self._clock(), fresh
        while len(self._read) > MOST:
            self._read.popitem(last=False)
        return fresh

    def clear(self) -> None:
        """Everything is read again."""
        self._read.clear()
