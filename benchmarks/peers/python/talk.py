"""How a peer in Python is measured: it inserts and handles in one process, and prints the milliseconds of each."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable

WARM = 1.0


class Stopwatch:
    """When each insert was committed, and when its handler was entered."""

    def __init__(self) -> None:
        self._entered: dict[int, float] = {}

    def entered(self, n: int) -> None:
        self._entered[n] = time.monotonic()

    async def run(self, insert: Callable[[int], Awaitable[object]], count: int, every: float) -> None:
        """Insert one after the other, wait for the last, print."""
        await asyncio.sleep(WARM)
        committed = []
        for n in range(count):
            await insert(n)
            committed.append(time.monotonic())
            await asyncio.sleep(every)
        await asyncio.sleep(WARM)
        print(json.dumps([(self._entered[n] - at) * 1000 for n, at in enumerate(committed)]))
