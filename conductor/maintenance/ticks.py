"""Fires the ticks of schedules that are due by the server's clock.

Every conductor tries; the SQL function `tick` compares what it computed from with the row under its lock, so
a tick fires once, and a conductor that dies in between leaves it to the next one.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any

from conductor.maintenance.own_session import OwnSession
from conductor.metrics import MaintenanceMetrics
from conductor.session.session import Session
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


class Ticks:
    """One pass: what is due, what is queued, and how long until the next tick."""

    name = "schedules"

    def __init__(self, own: OwnSession, metrics: MaintenanceMetrics) -> None:
        self._own = own
        self._metrics = metrics
        self._refused: dict[str, str] = {}

    async def run_once(self) -> float | None:
        """Fire what is due; returns the pause until the next tick, none without a schedule."""
        async with self._own.session() as session:
            due = await self._step(session)
            if due is not None and due <= 0:
                due = await self._step(session)
        return None if due is None else max(due, SHORTEST_PAUSE)

    async def _step(self, session: Session) -> float | None:
        """Fire and release, where there is something; the seconds until the next tick before that, if any."""
        [[pause, late, waiting]] = await session.rows(PENDING)
        self._metrics.late_schedules.set(late)
        if pause is not None and pause <= 0:
            for row in await session.rows(DUE):
                await self._alone(session, row[0], self._fire(session, *row))
        if waiting:
            for [name] in await session.rows(QUEUED):
                await self._alone(session, name, session.rows(RELEASE, {"name": name}))
        if pause is None:
            return LONGEST_PAUSE if waiting else None  # a new schedule notifies
        return min(float(pause), LONGEST_PAUSE)

    async def _alone(self, session: Session, name: str, step: Any) -> None:
        """Whatever is wrong with one schedule, or refused of it, does not keep the others from firing."""
        try:
            await step
        except Exception as error:
            if session.lost:
                raise
            said = str(error) or type(error).__name__
            if self._refused.get(name) != said:
                log.error("a schedule cannot fire", schedule=name, error=said)  # noqa: TRY400 - it says all
            self._refused[name] = said
        else:
            self._refused.pop(name, None)

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
    ) -> None:
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
            return
        self._metrics.ticks.labels(name).inc(fired)
        if due.missed:
            log.warning(
                "ticks were missed", schedule=name, missed=due.missed, since=next_at, catch_up=catch_up
            )
