"""Compares the executions that the ledger expects in a backend with those the backend has.

An execution that is not there counts as missing first: it may be on its way, or a list may be stale. One
that stays missing for the grace period is looked up again by name, bypassing caches, under its thread's
advisory lock, so that no conductor is submitting it meanwhile. Only then it counts as vanished and ends
FAILED for an administrator to see. A source that cannot know without asking is queried when the execution
has been silent for a long time.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple
from uuid import UUID

from caboose.isolate import NOT_ABOUT_A_CASE, answered
from caboose.leader import Leader
from caboose.observe.intake import Intake
from caboose.queries import START, Queries
from caboose.rows import OpenExecution
from switchyard.errors import Transient
from switchyard.process.log import get_logger
from switchyard.sources import Observation, Source
from switchyard.status import Status

log = get_logger(__name__)

PAGE = 1000


class Pace(NamedTuple):
    """Times in seconds: how long an execution may be missing or silent, and how often to look."""

    grace: float = 15.0
    silent: float = 300.0
    every: float = 15.0


PACE = Pace()


class Reconcile:
    """The loop that compares, for one source and the action names it serves."""

    def __init__(
        self,
        source: Source,
        names: Sequence[str],
        queries: Queries,
        intake: Intake,
        leader: Leader,
        pace: Pace = PACE,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = f"reconcile {source.name}"
        self._source, self._names = source, names
        self._queries, self._intake, self._leader = queries, intake, leader
        self._pace, self._clock = pace, clock
        self._unanswered = False  # a look in this pass got no answer
        self._missing: dict[tuple[UUID, int], float] = {}
        self._asked: dict[tuple[UUID, int], float] = {}

    async def run_once(self) -> float | None:
        """One pass over all executions that were handed over."""
        if not self._source.can_look or not self._leader.leads or not await self._source.ready():
            return self._pace.every
        after, seen = START, set()
        self._unanswered = False
        while page := await self._queries.open_executions(self._names, after, PAGE):
            for each in page:
                seen.add((each.uuid, each.run))
                await self._compare(each)
            after = page[-1].uuid
        for memory in (self._missing, self._asked):
            for gone in memory.keys() - seen:
                del memory[gone]
        return self._pace.every if seen else None

    async def _compare(self, each: OpenExecution) -> None:
        try:
            if not self._source.answers_for(each.uuid, each.handover or {}):
                return
            present = self._source.present(each.uuid, each.run)
            if self._unanswered and not present:
                return  # each further look might take as long
            if present is None:
                await self._ask(each)
            elif present:
                self._missing.pop((each.uuid, each.run), None)
            else:
                await self._miss(each)
        except NOT_ABOUT_A_CASE:
            raise
        except Exception as error:  # noqa: BLE001 - whatever one execution raises
            self._unanswered = isinstance(error, Transient)
            log.warning("could not look", source=self._source.name, uuid=str(each.uuid), error=str(error))

    async def _ask(self, each: OpenExecution) -> None:
        """Query the source about an execution that has been silent for long, but not too often."""
        key, now, silent = (each.uuid, each.run), self._clock(), self._pace.silent
        if each.silent < silent or now - self._asked.get(key, -silent) < silent:
            return
        found = await answered(self._source.look(each.uuid, each.run))
        if found is None:
            await self._miss(each)
        else:
            self._asked[key] = now
            self._missing.pop(key, None)
            await self._intake.put(found)

    async def _miss(self, each: OpenExecution) -> None:
        first = self._missing.setdefault((each.uuid, each.run), self._clock())
        if self._clock() - first < self._pace.grace:
            return
        if not await self._queries.try_lock([each.lock_id]):
            return
        try:
            found = await answered(self._source.look(each.uuid, each.run))
        finally:
            await self._queries.unlock([each.lock_id])
        await self._intake.put(found or self._vanished(each))

    def _vanished(self, each: OpenExecution) -> Observation:
        """The end of a vanished execution: fatal, so that nothing restarts it: the reason is unknown."""
        error = f"its execution vanished from {self._source.name} before it ended"
        log.warning("an execution vanished", source=self._source.name, action_uuid=str(each.uuid))
        return Observation(each.uuid, each.run, Status.FAILED, error, fatal=True)
