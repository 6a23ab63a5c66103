"""Forgetting: delete or acknowledge what is safe in the archive and the ledger, under the thread's lock.

Conductor holds the lock while it dispatches. One that claimed just before the end is still going to submit;
if the workflow were deleted by then, the same name would run a second time. So: try the lock; not got,
later.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from caboose.ledger import Ledger
from caboose.metrics import CabooseMetrics
from switchyard.process.log import get_logger
from switchyard.sources import Observation, Source

log = get_logger(__name__)

Forgettable = tuple[Observation, int | None]  # with the lock of its thread, where there is a thread


class Forgetter:
    """Forgets for one source; what it could not forget it tries again when it is next called."""

    def __init__(self, source: Source, ledger: Ledger, metrics: CabooseMetrics) -> None:
        self._source = source
        self._ledger = ledger
        self._metrics = metrics
        self._waiting: list[Forgettable] = []

    @property
    def waiting(self) -> int:
        """How many could not be forgotten yet."""
        return len(self._waiting)

    async def forget(self, seen: Sequence[Forgettable]) -> None:
        """Forget these and those that wait."""
        todo = [*self._waiting, *((replace(each, record=None, output=None), lock) for each, lock in seen)]
        self._waiting = todo  # should the database fail us now, nothing is lost
        if not todo:
            return
        locks = sorted({lock for _, lock in todo if lock is not None})
        free = await self._ledger.try_lock(locks)
        try:
            ours = [(each, lock) for each, lock in todo if lock is None or lock in free]
            failed = await self._forget_all(ours)
        finally:
            await self._ledger.unlock(sorted(free))
        self._waiting = [pair for pair in todo if pair[1] is not None and pair[1] not in free] + failed

    async def _forget_all(self, todo: Sequence[Forgettable]) -> list[Forgettable]:
        """Those that failed."""
        results = await asyncio.gather(
            *(self._source.forget(each) for each, _ in todo), return_exceptions=True
        )
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
