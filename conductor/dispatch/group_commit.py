"""Group commit: stores handler data for many outcomes before the outcomes are recorded.

Actions that arrive while one group is being stored form the next group. The outcomes of a group that cannot
be stored, or takes too long, are recorded without its data.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from conductor.action import ClaimedAction
from switchyard.handlers import Draft
from switchyard.process.log import get_logger

log = get_logger(__name__)

WITHIN = 15.0  # seconds; a handler has limits of its own, this one is for those that have none
CANCEL_WITHIN = 1.0
LINGER = 0.001  # seconds; one that is alone never waits, and slots do not wait long for company


class GroupCommit:
    """Takes drafted actions; returns them when their data is stored."""

    def __init__(
        self,
        store: Callable[[Sequence[Draft]], Awaitable[None]],
        stored: Callable[[Sequence[ClaimedAction]], None],
    ) -> None:
        self._store, self._stored = store, stored
        self._waiting: list[ClaimedAction] = []
        self._group: list[ClaimedAction] = []  # is being stored
        self._task: asyncio.Task[None] | None = None

    def add(self, action: ClaimedAction) -> None:
        """Store the action's data with the next group."""
        self._waiting.append(action)
        if self._task is None:
            self._task = asyncio.create_task(self._store_all())

    async def cancel(self) -> list[ClaimedAction]:
        """Stop storing; returns the actions that were not stored, whose outcomes are recorded anyway."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CANCEL_WITHIN)
        left = [*self._group, *self._waiting]
        self._waiting, self._group = [], []
        return left

    async def _store_all(self) -> None:
        try:
            while self._waiting:
                self._group, self._waiting = self._waiting, []
                await self._store_group([action.draft for action in self._group if action.draft is not None])
                group, self._group = self._group, []
                self._stored(group)
                if len(group) > 1:  # busy: what comes in a moment goes with the same group
                    await asyncio.sleep(LINGER)
        finally:
            self._task = None

    async def _store_group(self, drafts: Sequence[Draft]) -> None:
        try:
            async with asyncio.timeout(WITHIN):
                await self._store(drafts)
        except Exception:
            log.exception("the data of outcomes could not be stored", count=len(drafts))
