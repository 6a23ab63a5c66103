"""Releases or cancels actions that wait for other actions (migrations/current/waiting.sql, sets.sql,
reuse.sql).

Every conductor does this, concurrently. No state is held here, so a kill costs only time.
While nothing waits, it sleeps until a new waiter notifies the session that all maintenance loops share. While
something waits, it listens on a separate session: the end of a marked action sends a notification to
every session that listens.
"""

import asyncio
from collections.abc import Sequence
from typing import LiteralString

from conductor.maintenance.own_session import OwnSession
from conductor.metrics import MaintenanceMetrics
from conductor.session.session import Session
from switchyard.ledger.queries import query

ANY = query("waiting", "any")
SETTLE = query("waiting", "settle")
LOOKS: tuple[tuple[LiteralString, dict[str, bool]], ...] = (
    (SETTLE, {"new": True}),
    (SETTLE, {"new": False}),
    (query("waiting", "submit_items"), {}),
    (query("waiting", "settle_sets"), {}),
    (query("waiting", "settle_reuse"), {}),
)
OUTCOMES = ("reused", "led", "followed")  # what the last of these counts besides
BELL = {"name": "switchyard joins"}
NAME_BELL = query("conductor", "name_bell")
LISTEN = query("conductor", "listen")
ARM = query("conductor", "arm")
DISARM = query("conductor", "disarm")

BATCH = 50  # small: a kill loses a batch
IDLE = 0.5
BUSY = 0.01  # others hold the rows: they are being ended just now
MOST_BUSY = 10  # so often in a row; what is held for longer waits like the others
UNARMED = 0.05  # a writer is about to commit, and will not ring


class Settle:
    """The loop: settle until there is nothing to do, then wait for a notification."""

    name = "joins"

    def __init__(self, shared: OwnSession, bell: OwnSession, metrics: MaintenanceMetrics) -> None:
        self._shared = shared
        self._metrics = metrics
        self._bell = bell
        self._listens: Session | None = None
        self._rang = asyncio.Event()
        self._busy = 0

    async def run_once(self) -> float | None:
        """Settle; if actions still wait, listen until one may be settled."""
        async with self._shared.session() as session:
            [[waits]] = await session.rows(ANY)
        if not waits:
            await self.close()
            return None  # a new waiter notifies
        async with self._bell.session() as session:
            if session is not self._listens:
                await self._listen(session)
            await self._pass(session)
        return 0.0

    async def close(self) -> None:
        """Close the session."""
        self._listens = None
        await self._bell.close()

    async def _listen(self, session: Session) -> None:
        session.on_bell = lambda _named: self._rang.set()
        await session.rows(NAME_BELL, BELL)
        await session.rows(LISTEN)
        self._listens = session

    async def _pass(self, session: Session) -> None:
        self._rang.clear()
        self._busy = self._busy + 1 if await self._settled(session) else 0
        if 0 < self._busy <= MOST_BUSY:
            await session.wait(self._rang, BUSY)
            return
        [[armed]] = await session.rows(ARM, BELL)
        await self._settled(session)  # what came before the bell was armed
        await session.wait(self._rang, IDLE if armed else UNARMED)
        if armed:
            await session.rows(DISARM, BELL)

    def _count(self, counts: Sequence[int]) -> None:
        for outcome, number in zip(OUTCOMES, counts, strict=False):
            self._metrics.reuse.labels(outcome).inc(number)

    async def _settled(self, session: Session) -> int:
        """Settle until nothing changes; returns how many were skipped because their rows are locked."""
        while True:
            total = left = 0
            for look, which in LOOKS:
                limit, settled, busy = BATCH, 1, 0
                while settled or busy == limit:
                    limit = 2 * limit if busy == limit else BATCH  # further than those that others hold
                    [[settled, busy, *counts]] = await session.rows(look, {**which, "limit": limit})
                    total += settled
                    self._count(counts)
                left += busy
            if not total:
                return left
