"""Outcomes that have something durable to write before they are told: many in one go.

Whatever comes while one group is being kept is the next group (group commit). A group that cannot be kept, or
that takes too long, is told as it stands: what was done stays done.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

from conductor.dispatch.landed import Landed
from switchyard.handlers import Draft
from switchyard.process.log import get_logger

log = get_logger(__name__)

WITHIN = 15.0  # seconds; a handler has limits of its own, this one is for those that have none
CANCEL_WITHIN = 1.0
LINGER = 0.001  # seconds; one that is alone never waits, and slots do not wait long for company


class GroupCommit:
    """Drafts in, landed dispatches out."""

    def __init__(
        self,
        conclude: Callable[[Sequence[Draft]], Awaitable[None]],
        kept: Callable[[Sequence[Landed]], None],
    ) -> None:
        self._conclude, self._kept = conclude, kept
        self._waiting: list[tuple[Landed, Draft]] = []
        self._group: list[tuple[Landed, Draft]] = []  # is being kept
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._waiting) + len(self._group)

    def __iter__(self) -> Iterator[Landed]:
        return (landed for landed, _ in [*self._group, *self._waiting])

    def add(self, landed: Landed, draft: Draft) -> None:
        """Keep it with the next group."""
        self._waiting.append((landed, draft))
        if self._task is None:
            self._task = asyncio.create_task(self._keep_all())

    async def cancel(self) -> list[Landed]:
        """Keep nothing more; returns what was not kept, whose outcomes stand all the same."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CANCEL_WITHIN)
        left = list(self)
        self._waiting, self._group = [], []
        return left

    async def _keep_all(self) -> None:
        try:
            while self._waiting:
                self._group, self._waiting = self._waiting, []
                await self._keep([draft for _, draft in self._group])
                group, self._group = self._group, []
                self._kept([landed for landed, _ in group])
                if len(group) > 1:  # busy: what comes in a moment goes with the same group
                    await asyncio.sleep(LINGER)
        finally:
            self._task = None

    async def _keep(self, drafts: Sequence[Draft]) -> None:
        try:
            async with asyncio.timeout(WITHIN):
                await self._conclude(drafts)
        except Exception:
            log.exception("what belongs to outcomes could not be kept", count=len(drafts))
