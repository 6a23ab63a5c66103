"""Isolates bad cases, so that one bad case delays only itself.

A batch that fails as a whole is retried case by case, and the case that fails alone is set aside. A batch
that waits for a row that another transaction has locked is written without the locked rows, which one
statement finds. This costs nothing for good batches: both happen only after the whole batch failed.

Errors that concern no single case (database unavailable, unusable configuration, another caboose leads) are
raised.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar
from uuid import UUID

from caboose.case import SOON, Case
from caboose.queries import Queries
from caboose.session import RowBusy
from switchyard.errors import ConfigError, DatabaseUnavailable, Transient

T = TypeVar("T")

ANSWER = 20.0  # seconds: less than what makes a loop look stuck
Step = Callable[[Sequence[Case]], Awaitable[None]]
Failed = Callable[[Case, Exception], Awaitable[None]]


class NotLeader(Transient):
    """Another caboose leads now and does the work."""

    def __init__(self) -> None:
        super().__init__("another caboose may lead by now: nothing was recorded")


async def answered(call: Awaitable[T]) -> T:
    """The result of a call to a source; a timeout is retried later."""
    try:
        async with asyncio.timeout(ANSWER):
            return await call
    except TimeoutError as error:
        raise Transient(f"no answer within {ANSWER:.0f} s") from error


NOT_ABOUT_A_CASE = (DatabaseUnavailable, ConfigError, NotLeader)


async def one_by_one(step: Step, cases: Sequence[Case], failed: Failed) -> None:
    """Run a step for all cases; if that fails, for each alone, and pass those that fail to `failed`."""
    if not cases:
        return
    try:
        await step(cases)
    except NOT_ABOUT_A_CASE:
        raise
    except Exception as error:  # noqa: BLE001 - whatever one case raises
        if len(cases) == 1:
            await failed(cases[0], error)
            return
        for case in cases:
            await one_by_one(step, [case], failed)


async def without_locked(
    queries: Queries,
    step: Callable[[Sequence[T]], Awaitable[None]],
    items: Sequence[T],
    uuid_of: Callable[[T], UUID],
) -> list[T]:
    """Run a step that writes threads, leaving out locked ones; returns the threads that were written."""
    try:
        await step(items)
        return list(items)
    except RowBusy:
        pass
    try:
        async with queries.transaction():
            free = await queries.lock_free([uuid_of(item) for item in items])
            unlocked = [item for item in items if uuid_of(item) in free]
            if unlocked:
                await step(unlocked)
    except RowBusy:
        return []
    return unlocked


async def cases_without_locked(queries: Queries, step: Step, cases: Sequence[Case]) -> list[Case]:
    """The same for cases: those with a locked thread are set aside."""
    written = await without_locked(queries, step, cases, lambda case: case.observation.uuid)
    for case in set(cases).difference(written):
        case.set_aside(SOON)
    return written
