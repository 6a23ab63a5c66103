"""One bad case delays only itself: a batch that fails as a whole is retried case by case.

Well-behaved work does not pay for this: one by one happens only after the whole batch failed. What is not
about any case (the database is away, the configuration cannot be used, another caboose leads) is raised.
"""

from collections.abc import Awaitable, Callable, Sequence

from caboose.case import Case
from switchyard.errors import ConfigError, DatabaseUnavailable, Transient


class NotLeader(Transient):
    """Another caboose leads by now, and does the work."""

    def __init__(self) -> None:
        super().__init__("another caboose may lead by now: nothing was recorded")


NOT_ABOUT_A_CASE = (DatabaseUnavailable, ConfigError, NotLeader)


async def one_by_one(
    step: Callable[[Sequence[Case]], Awaitable[None]],
    cases: Sequence[Case],
    failed: Callable[[Case, Exception], Awaitable[None]],
) -> None:
    """Run a step for all cases; where that fails, for each, and hand those that fail alone to `failed`."""
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
