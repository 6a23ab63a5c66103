"""Dispatches under way: each a task that ends in exactly one outcome, or in none because it was abandoned."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from conductor.claim.fast_path import Found
from conductor.dispatch.group_commit import GroupCommit
from conductor.dispatch.landed import Landed
from switchyard.handlers import Draft, DraftingHandler, Handler, Outcome, Retry, Work
from switchyard.process.deadline import Deadlines
from switchyard.process.log import bind, get_logger
from switchyard.process.tracing import Step, span

log = get_logger(__name__)

CANCEL_WITHIN = 2.0  # how long an abandoned dispatch may take to notice


Dispatch = Callable[[Work], Awaitable[Outcome | Draft]]


class Flights:
    """Starts dispatches, collects what they came to, and can drop them all."""

    def __init__(self, handler: Handler, timeout: float, landed: Callable[[], None]) -> None:
        drafting = handler if isinstance(handler, DraftingHandler) else None
        self.in_groups = drafting is not None  # what lands has waited for company already
        self._dispatch: Dispatch = drafting.draft if drafting else handler.dispatch
        self._group_commit = GroupCommit(drafting.conclude if drafting else _nothing, self._land)
        self._seconds = timeout + getattr(handler, "overtime", 0.0)
        self._deadlines = Deadlines(self._seconds)
        self._tell = landed
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._flying: dict[UUID, tuple[Work, int]] = {}
        self._landed: list[Landed] = []
        self.first_landed_at = 0.0

    def __len__(self) -> int:
        """All that this worker holds a lock for."""
        return self.airborne + len(self._landed)

    @property
    def airborne(self) -> int:
        """Dispatches that have no outcome yet, or none that may be told yet."""
        return len(self._flying) + len(self._group_commit)

    @property
    def waiting(self) -> int:
        """Outcomes that are not written yet."""
        return len(self._landed)

    def held(self) -> list[UUID]:
        """The actions whose locks are ours."""
        return [*self._flying, *(one.work.uuid for one in self._on_the_ground())]

    def holds(self, uuid: UUID) -> bool:
        """Whether that action's lock is ours."""
        return uuid in self._flying or any(one.work.uuid == uuid for one in self._on_the_ground())

    def start(self, work: Work, lock: int) -> None:
        """Dispatch it in a task of its own."""
        self._flying[work.uuid] = (work, lock)
        self._tasks[work.uuid] = asyncio.create_task(self._fly(work, lock))

    async def start_claimed(self, claim: Coroutine[Any, Any, Found]) -> Found:
        """Dispatch what is being claimed, and return the claim once the handler was entered.

        The task that waits for the claim is the dispatch: no turn of the loop lies between the two.
        """
        told: asyncio.Future[Found] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._fly_claimed(claim, told))
        try:
            return await told
        except BaseException:
            task.cancel()  # nobody may claim for a shift that is over
            raise

    def collect(self) -> list[Landed]:
        """What landed since the last call; from here on it is the caller's to write."""
        landed, self._landed = self._landed, []
        return landed

    async def cancel(self) -> list[tuple[Work, int]]:
        """Tell all that fly to stop; returns those that came to no outcome. Their late ones are dropped."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            _, deaf = await asyncio.wait(tasks, timeout=CANCEL_WITHIN)
            if deaf:
                log.error("dispatches do not stop when they are cancelled", count=len(deaf))
        left = list(self._flying.values())
        self._flying.clear()
        self._tasks.clear()
        self._land(await self._group_commit.cancel())
        return left

    async def abandon(self) -> int:
        """The claims are gone: stop everything and forget every outcome."""
        dropped = len(self)
        await self.cancel()
        self._landed.clear()
        return dropped

    async def _fly_claimed(self, claim: Coroutine[Any, Any, Found], told: "asyncio.Future[Found]") -> None:
        try:
            found = await claim
        except Exception as error:  # noqa: BLE001 - it is the shift's, which waits for it
            told.set_exception(error)
            return
        if told.cancelled():
            return  # the shift is over, and its session ends with it
        told.set_result(found)
        if found.work is not None:
            task = asyncio.current_task()
            assert task is not None, "a flight is a task"
            self._flying[found.work.uuid] = (found.work, found.lock)
            self._tasks[found.work.uuid] = task
            await self._fly(found.work, found.lock)

    async def _fly(self, work: Work, lock: int) -> None:
        began = time.perf_counter()
        bind(correlation_id=work.correlation_id, action_uuid=work.uuid)
        outcome = await self._outcome(work)
        if self._flying.pop(work.uuid, None) is None:
            return  # abandoned meanwhile: somebody else has it now
        del self._tasks[work.uuid]
        seconds = time.perf_counter() - began
        if isinstance(outcome, Draft):
            self._group_commit.add(Landed(work, lock, outcome.outcome, seconds), outcome)
        else:
            self._land([Landed(work, lock, outcome, seconds)])

    def _land(self, landed: Sequence[Landed]) -> None:
        if not self._landed:
            self.first_landed_at = time.monotonic()
        self._landed += landed
        self._tell()

    def _on_the_ground(self) -> list[Landed]:
        return [*self._group_commit, *self._landed]

    async def _outcome(self, work: Work) -> Outcome | Draft:
        with _traced(work) as step:
            try:
                with self._deadlines.limit():
                    outcome = await self._dispatch(work)
            except TimeoutError:
                outcome = Retry(f"no outcome within {self._seconds:g} s")
            except Exception as error:
                log.exception("a dispatch raised", action=work.action_name)
                outcome = Retry(f"{type(error).__name__}: {error}")
            told = outcome.outcome if isinstance(outcome, Draft) else outcome
            step.set("outcome", type(told).__name__)
            return outcome


async def _nothing(_drafts: Sequence[Draft]) -> None:
    """What a handler without drafts has to keep."""


def _traced(work: Work) -> AbstractContextManager[Step]:
    return span(
        "dispatch",
        action_uuid=work.uuid,
        correlation_id=work.correlation_id,
        parent_uuid=work.parent_uuid,
        action=work.action_name,
        attempt=work.attempt,
    )
