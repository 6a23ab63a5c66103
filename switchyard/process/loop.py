"""The one loop shape: `run_once()` does the work and returns the delay, the Runner does everything else.

- The delay counts from the end of `run_once`; None sleeps until `wake()`. A wake during `run_once` counts.
- An exception is logged and followed by a growing pause, which `wake()` does not shorten: notifications
  must not hammer a database that is down. ConfigError is raised, because waiting cannot correct a
  configuration.
- `stop()` lets a `run_once` under way finish; to cut it short, cancel the task that runs `run()`.
- Alive means: the step under way, or the sleep, is not overdue by more than `stall_after`.
"""

import asyncio
import math
import time
from collections.abc import Iterable
from typing import Protocol

from switchyard.backoff import Backoff
from switchyard.errors import ConfigError, SwitchyardError
from switchyard.process.log import get_logger

log = get_logger(__name__)


class Loop(Protocol):
    """Work that is repeated."""

    name: str

    async def run_once(self) -> float | None:
        """Do what is due; returns the seconds until the next call, or None to sleep until woken."""


class Clock(Protocol):
    """The Runner's clock; tests provide their own."""

    def now(self) -> float:
        """Seconds on a clock that never jumps."""

    async def wait(self, event: asyncio.Event, seconds: float | None) -> None:
        """Return when the event is set or the seconds have passed."""


class MonotonicClock:
    """The real clock."""

    def now(self) -> float:
        return time.monotonic()

    async def wait(self, event: asyncio.Event, seconds: float | None) -> None:
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return


class Runner:
    """Sleeps, wakes and stops one Loop, and knows whether it is alive."""

    def __init__(
        self,
        loop: Loop,
        *,
        backoff: Backoff | None = None,
        stall_after: float = 60.0,
        clock: Clock | None = None,
    ) -> None:
        self._loop = loop
        self._backoff = backoff or Backoff()
        self._stall_after = stall_after
        self._clock = clock or MonotonicClock()
        self._woken = asyncio.Event()
        self._stopped = asyncio.Event()
        self._failures = 0
        self._due = self._clock.now()

    @property
    def name(self) -> str:
        return self._loop.name

    @property
    def asleep(self) -> bool:
        """Whether it sleeps until `wake()`."""
        return self._due == math.inf

    @property
    def stopping(self) -> bool:
        return self._stopped.is_set()

    def wake(self) -> None:
        """Call `run_once` now, or again if it is running. Call it from the loop's own thread."""
        self._woken.set()

    def stop(self) -> None:
        """Finish the current step, then let `run()` return."""
        self._stopped.set()
        self._woken.set()

    def tick(self) -> None:
        """Report progress of a long `run_once`."""
        self._due = self._clock.now()

    def alive(self) -> bool:
        """Whether nothing is overdue. Safe from any thread."""
        return self._clock.now() <= self._due + self._stall_after

    async def run(self) -> None:
        """Run until `stop()`."""
        while not self.stopping:
            self._woken.clear()
            self.tick()
            try:
                delay = await self._loop.run_once()
            except ConfigError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it was, the loop has to go on
                await self._back_off(error)
            else:
                self._failures = 0
                await self._sleep(self._woken, delay)

    async def _back_off(self, error: Exception) -> None:
        self._failures += 1
        pause = self._backoff.pause(self._failures)
        expected = isinstance(error, SwitchyardError) and error.transient
        log.warning(
            "loop step failed",
            loop=self.name,
            error=str(error),
            failures=self._failures,
            again_in=round(pause, 3),
            exc_info=None if expected else error,
        )
        await self._sleep(self._stopped, pause)

    async def _sleep(self, event: asyncio.Event, delay: float | None) -> None:
        """Sleep until the event or the delay; a delay of 0 still lets the other tasks have a turn."""
        self._due = math.inf if delay is None else self._clock.now() + max(delay, 0.0)
        if delay is not None and delay <= 0:
            await asyncio.sleep(0)
        else:
            await self._clock.wait(event, delay)


async def run_together(runners: Iterable[Runner]) -> None:
    """Run all until they have stopped; an error in one stops the others in order and is raised."""
    runners = list(runners)

    async def run(runner: Runner) -> None:
        try:
            await runner.run()
        except BaseException:
            for other in runners:
                other.stop()
            raise

    results = await asyncio.gather(*(run(runner) for runner in runners), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
