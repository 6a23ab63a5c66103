"""Many equal time limits with one timer: the oldest always expires first.

    with deadlines.limit():
        await something()  # TimeoutError when its time is over

`asyncio.timeout` sets and cancels a timer each time, which is 2 % of the cost of a webhook.
"""

import asyncio
from types import TracebackType
from typing import Any


class Deadlines:
    """The time limits of one event loop; all have the same number of seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._running: dict[Limit, float] = {}  # when each is due, in the order of their starts
        self._timer: asyncio.TimerHandle | None = None

    def limit(self) -> "Limit":
        """A time limit for one block of one task."""
        return Limit(self)

    def begin(self, limit: "Limit") -> None:
        """Start the time limit now."""
        due = self._running[limit] = self._loop.time() + self._seconds
        if self._timer is None:
            self._timer = self._loop.call_at(due, self._strike)

    def end(self, limit: "Limit") -> None:
        """End the time limit: the block is done or was cancelled."""
        self._running.pop(limit, None)

    def _strike(self) -> None:
        self._timer = None
        while self._running:
            limit, due = next(iter(self._running.items()))
            if due > self._loop.time():
                self._timer = self._loop.call_at(due, self._strike)
                return
            del self._running[limit]
            limit.strike()


class Limit:
    """Cancels its task when the time is over, and turns only that cancellation into TimeoutError."""

    __slots__ = ("_before", "_deadlines", "_struck", "_task")

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self._task: asyncio.Task[Any] | None = None
        self._before = 0
        self._struck = False

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        assert self._task is not None, "a limit is for a task"
        self._before = self._task.cancelling()
        self._deadlines.begin(self)

    def strike(self) -> None:
        """Cancel the task: its time is over."""
        assert self._task is not None, "only what was entered is struck"
        self._struck = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._deadlines.end(self)
        if not self._struck:
            return
        assert self._task is not None, "only what was entered is struck"
        only_ours = self._task.uncancel() <= self._before
        if only_ours and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError
