"""A worker's row in the ledger: it beats while the worker lives and is closed when it ends.

A row without a heartbeat for `workers.lost_after` is marked lost (silence.py), and its connections are
terminated. One rule for all programs: a worker whose row was marked lost drops what it holds, because
another may have its work already, and registers again under a new id.

A worker that has nothing to do rests: its heartbeat says how long it will be silent, and `lost_after` counts
from there. It beats regularly again as soon as it has claimed something.
"""

import json
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, LiteralString
from uuid import UUID

from switchyard.ledger.queries import query

BEAT = query("worker", "beat")
END = query("worker", "end")

Execute = Callable[[LiteralString, Mapping[str, Any]], Awaitable[Sequence[Any]]]


class Heartbeat:
    """The row of one worker, after its registration."""

    def __init__(
        self,
        worker: UUID,
        every: float,
        execute: Execute,
        clock: Callable[[], float] = time.monotonic,
        statement: LiteralString = BEAT,
    ) -> None:
        self.worker = worker
        self.done = 0
        self.failed = 0
        self._reported = (0, 0)
        self._every = every
        self._execute = execute
        self._statement = statement  # its rows are returned; none where the worker was marked lost
        self._clock = clock
        self._began = self._beaten = clock()
        self._answered = True
        self.rests = 0.0

    @property
    def fresh(self) -> bool:
        """Whether the database took a heartbeat lately."""
        return self._answered and self._clock() - self._beaten < 3 * self._every + self.rests

    @property
    def unreported(self) -> bool:
        """Whether something was done since the last heartbeat."""
        return self._reported != (self.done, self.failed)

    def due_in(self) -> float:
        """Seconds until the next heartbeat; for ever while it rests: somebody else sends it."""
        return math.inf if self.rests else self._beaten + self._every - self._clock()

    async def beat(
        self, state: Mapping[str, Any] | None = None, busy: float = 0.0, rests: float = 0.0
    ) -> Sequence[Any]:
        """Show that it lives, and report its state and busy seconds; nothing where it was marked lost."""
        now = self._clock()
        self._answered = False
        rows = await self._execute(self._statement, self._report(state, busy, rests))
        if rows:
            self._beaten, self._answered, self.rests = now, True, rests
        return rows

    async def end(self, busy: float = 0.0, execute: Execute | None = None) -> None:
        """Close the row, through another connection where its own was lost."""
        through = execute or self._execute
        await through(self._statement, self._report(None, busy))
        await through(END, self._figures())

    def _report(self, state: Mapping[str, Any] | None, busy: float, rests: float = 0.0) -> dict[str, Any]:
        """With what was done since the last heartbeat; where this one is lost, so is the connection."""
        done, failed = self._reported
        self._reported = (self.done, self.failed)
        badly = self.failed - failed
        since = {"ended": self.done - done + badly, "ended_badly": badly, "busy": round(busy, 6)}
        written = None if state is None else json.dumps(state)
        return {**self._figures(), **since, "rests": rests, "state": written}

    def _figures(self) -> dict[str, Any]:
        rate = round((self.done + self.failed) / max(self._clock() - self._began, 1e-3), 3)
        return {"worker": self.worker, "done": self.done, "failed": self.failed, "rate": rate}
