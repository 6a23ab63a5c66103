"""Deletes or acknowledges executions that are archived and recorded, under the thread's advisory lock.

Conductor holds the lock while it dispatches. A conductor that claimed just before the end may still submit;
if the workflow were deleted by then, the same name would run a second time. So try the lock; if it is
taken, forget later.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from caboose.case import SOON, Case
from caboose.isolate import answered
from caboose.metrics import CabooseMetrics
from caboose.queries import Queries
from switchyard.process.log import get_logger
from switchyard.sources import Observation, Source

log = get_logger(__name__)

Forgettable = tuple[Observation, int | None]  # with the lock of its thread, where there is a thread


class Forgetter:
    """Forgets executions of one source; retries failed ones at the next call."""

    def __init__(self, source: Source, queries: Queries, metrics: CabooseMetrics) -> None:
        self._source = source
        self._queries = queries
        self._metrics = metrics
        self._waiting: list[Forgettable] = []

    @property
    def waiting(self) -> int:
        """How many executions wait to be forgotten."""
        return len(self._waiting)

    @property
    def next_in(self) -> float | None:
        """Seconds until the next try; None if nothing waits."""
        return SOON if self._waiting else None

    async def forget(self, cases: Sequence[Case]) -> None:
        """Forget these and the waiting ones. The cases are finished: from here on the forgetter retries."""
        self._waiting += map(_forgettable, cases)  # should the database fail now, nothing is lost
        for case in cases:
            case.finished = True
        todo = self._waiting
        if not todo:
            return
        locks = sorted({lock for _, lock in todo if lock is not None})
        free = await self._queries.try_lock(locks)
        try:
            ours = [(each, lock) for each, lock in todo if lock is None or lock in free]
            failed = await self._forget_all(ours)
        finally:
            await self._queries.unlock(sorted(free))
        self._waiting = [pair for pair in todo if pair[1] is not None and pair[1] not in free] + failed

    async def _forget_all(self, todo: Sequence[Forgettable]) -> list[Forgettable]:
        """Forget all of them; returns those that failed."""
        results = await asyncio.gather(*(self._one(each) for each, _ in todo), return_exceptions=True)
        failed = []
        for pair, result in zip(todo, results, strict=True):
            if isinstance(result, BaseException):
                log.warning(
                    "could not forget", source=self._source.name, uuid=pair[0].uuid, error=str(result)
                )
                failed.append(pair)
            else:
                self._metrics.forgotten.labels(self._source.name).inc()
        return failed

    async def _one(self, seen: Observation) -> None:
        await answered(self._source.forget(seen))


def _forgettable(case: Case) -> Forgettable:
    """The case without data that only the archive needed."""
    seen = case.observation
    if case.thread is None:
        log.warning("an end without an action is forgotten", action_uuid=str(seen.uuid), run=seen.run)
    return replace(seen, record=None, output=None), case.thread.lock_id if case.thread else None
