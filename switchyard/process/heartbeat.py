"""A worker's row in the ledger: heartbeats while the worker runs, closed when it ends.

A row without a heartbeat for `workers.lost_after` is marked lost (silence.py), and its connections are
terminated. The same rule holds for all programs: a worker whose row was marked lost drops what it holds,
because another worker may have its work already, and registers again under a new id.

A worker without work rests: its heartbeat announces how long it will be silent, and `lost_after` counts
from then. It sends regular heartbeats again as soon as it has claimed something.
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
    """The heartbeat of one registered worker."""

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
        """Whether the database accepted a heartbeat recently."""
        return self._answered and self._clock() - self._beaten < 3 * self._every + self.rests

    @property
    def unreported(self) -> bool:
        """Whether something was done since the last heartbeat."""
        return self._reported != (self.done, self.failed)

    def due_in(self) -> float:
        """Seconds until the next heartbeat; infinite while it rests, because the pulse then sends it."""
        return math.inf if self.rests else self._beaten + self._every - self._clock()

    async def beat(
        self, state: Mapping[str, Any] | None = None, busy: float = 0.0, rests: float = 0.0
    ) -> Sequence[Any]:
        """Send a heartbeat with state and busy seconds; returns no row if the worker was marked lost."""
        now = self._clock()
        self._answered = False
        rows = await self._execute(self._statement, self._report(state, busy, rests))
        if rows:
            self._beaten, self._answered, self.rests = now, True, rests
        return rows

    async def end(self, busy: float = 0.0, execute: Execute | None = None) -> None:
        """Close the row; through another connection if its own was lost."""
        through = execute or self._execute
        await through(self._statement, self._report(None, busy))
        await through(END, self._figures())

    def _report(self, state: Mapping[str, Any] | None, busy: float, rests: float = 0.0) -> dict[str, Any]:
        """The values of a heartbeat. Each dispatch is reported once: a lost heartbeat ends the connection."""
        done, failed = self._reported
        self._reported = (self.done, self.failed)
        badly = self.failed - failed
        since = {"ended": self.done - done + badly, "ended_badly": badly, "busy": round(busy, 6)}
        written = None if state is None else json.dumps(state)
        return {**self._figures(), **since, "rests": rests, "state": written}

    def _figures(self) -> dict[str, Any]:
        rate = round((self.done + self.failed) / max(self._clock() - self._began, 1e-3), 3)
        return {"worker": self.worker, "done": self.done, "failed": self.failed, "rate": rate}
