"""Fires the ticks of schedules that are due by the server's clock.

Every conductor tries; the SQL function `tick` checks under the row's lock that the schedule is unchanged, so
a tick fires once; if a conductor dies before it commits, another one fires the tick.

A schedule that cannot fire, or whose row is locked, is skipped for a while so that the others fire.
Ticks fire on a separate session: a submission may be slow (for example because of a user's trigger), and
heartbeats go over the shared one.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from conductor.maintenance.own_session import OwnSession
from conductor.metrics import MaintenanceMetrics
from conductor.session.session import Session
from switchyard.backoff import Backoff
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger
from switchyard.schedules.due import due_ticks
from switchyard.schedules.times import Times

log = get_logger(__name__)

DUE = query("schedules", "due")
TICK = query("schedules", "tick")
QUEUED = query("schedules", "queued")
RELEASE = query("schedules", "release")
PENDING = query("schedules", "pending")
LONGEST_PAUSE = 2.0  # a jump of the server's clock, or the end that a tick waits for, does not notify
SHORTEST_PAUSE = 0.05
HELD = 0.5  # seconds until the next try if the row is locked
FORGET = 600.0

Schedule = tuple[str, int]  # with its revision: a changed one is tried at once


@dataclass(frozen=True, slots=True)
class Aside:
    """A schedule that is skipped until `until`."""

    until: float
    failures: int = 0
    error: str | None = None


class Ticks:
    """The loop: fires due ticks, releases queued ones, and computes the pause until the next tick."""

    name = "schedules"

    def __init__(
        self,
        shared: OwnSession,
        own: OwnSession,
        metrics: MaintenanceMetrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shared = shared
        self._own = own
        self._metrics = metrics
        self._clock = clock
        self._backoff = Backoff()
        self._aside: dict[Schedule, Aside] = {}

    async def run_once(self) -> float | None:
        """Fire due ticks; returns the pause until the next tick, None without schedules."""
        due = await self._step()
        if due is not None and due <= 0:
            due = await self._step()
        if due is None:
            await self.close()
            return None
        return max(due, SHORTEST_PAUSE)

    async def close(self) -> None:
        """Close the session."""
        await self._own.close()

    async def _step(self) -> float | None:
        """Fire and release ticks; returns the seconds until the next tick as read before, if there is one."""
        left_out = self._left_out()
        async with self._shared.session() as session:
            [[pause, late, waiting]] = await session.rows(PENDING, left_out)
            due = await session.rows(DUE, left_out) if pause is not None and pause <= 0 else []
            queued = await session.rows(QUEUED, left_out) if waiting else []
        self._metrics.late_schedules.set(late)
        for row in sorted(due, key=lambda row: (row[0], row[1]) in self._aside):
            await self._alone((row[0], row[1]), self._fire, *row)
        for name, revision in queued:
            await self._alone((name, revision), _release, name)
        if pause is None and not waiting and not self._aside:
            return None  # a new schedule notifies
        now = self._clock()
        again = [each.until - now for each in self._aside.values() if each.until > now]
        return min([LONGEST_PAUSE, *again] if pause is None else [LONGEST_PAUSE, *again, float(pause)])

    def _left_out(self) -> dict[str, list[Any]]:
        """The skipped schedules, as parameters of the queries."""
        now = self._clock()
        self._aside = {key: each for key, each in self._aside.items() if each.until > now - FORGET}
        left_out = [key for key, each in self._aside.items() if each.until > now]
        return {"names": [name for name, _ in left_out], "revisions": [number for _, number in left_out]}

    async def _alone(self, schedule: Schedule, step: Callable[..., Awaitable[bool]], *values: Any) -> None:
        """Run one schedule's step; an error skips this schedule and lets the others fire."""
        async with self._own.session() as session:
            try:
                done = await step(session, *values)
            except Exception as error:
                if session.lost:
                    raise
                self._refused(schedule, str(error) or type(error).__name__)
                return
        self._aside.pop(schedule, None)
        if not done:
            self._aside[schedule] = Aside(self._clock() + HELD)

    def _refused(self, schedule: Schedule, error: str) -> None:
        before = self._aside.get(schedule) or Aside(0.0)
        failures = before.failures + 1
        pause = self._backoff.pause(failures)
        if before.error != error:
            log.error("a schedule cannot fire", schedule=schedule[0], error=error, again_in=round(pause, 3))
        self._aside[schedule] = Aside(self._clock() + pause, failures, error)

    async def _fire(
        self,
        session: Session,
        name: str,
        revision: int,
        cron: str | None,
        every: float | None,
        zone: str,
        catch_up: str,
        window: float,
        start: datetime | None,
        end: datetime | None,
        next_at: datetime,
        now: datetime,
    ) -> bool:
        """Fire one tick; False if another conductor was first or the row is locked."""
        times = Times(cron, every, zone, start, end)
        due = await asyncio.to_thread(due_ticks, times, catch_up, window, next_at.astimezone(UTC), now)
        values = {
            "name": name,
            "revision": revision,
            "expected": next_at,
            "fire": list(due.fire),
            "next_at": due.next_at,
            "missed": due.missed,
        }
        [[fired]] = await session.rows(TICK, values)
        if fired is None:
            return False
        self._metrics.ticks.labels(name).inc(fired)
        if due.missed:
            log.warning(
                "ticks were missed", schedule=name, missed=due.missed, since=next_at, catch_up=catch_up
            )
        return True


async def _release(session: Session, name: str) -> bool:
    await session.rows(RELEASE, {"name": name})
    return True
