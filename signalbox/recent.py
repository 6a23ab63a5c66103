"""A short-lived cache for values that are the same for all callers and that pages read often."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

MOST = 1000

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by their key, each read again after some seconds; the oldest are evicted."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._read: OrderedDict[Hashable, tuple[float, Value]] = OrderedDict()

    async def get(self, key: Hashable, read: Callable[[], Awaitable[Value]]) -> Value:
        """The cached value if it is recent enough, otherwise the value that `read` returns."""
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
        """Drop all values, so that they are read again."""
        self._read.clear()
