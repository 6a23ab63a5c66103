"""A clock that moves only when nothing else can happen, so a test of hours takes no time."""

import asyncio


class FakeClock:
    """Every wait without a set event passes at once, and is written down."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.waits: list[float | None] = []
        self.waited_on = asyncio.Event()

    def now(self) -> float:
        return self.time

    async def wait(self, event: asyncio.Event, seconds: float | None) -> None:
        self.waits.append(seconds)
        self.waited_on.set()
        await asyncio.sleep(0)
        if seconds is None:
            await event.wait()
        elif not event.is_set():
            self.time += seconds
