"""Acknowledges handled messages; one that cannot be acknowledged is delivered again, without harm."""

import asyncio
from collections.abc import Sequence

from caboose.case import Case
from caboose.isolate import answered
from switchyard.process.log import get_logger
from switchyard.sources import Acknowledge

log = get_logger(__name__)


async def acknowledge(source: str, cases: Sequence[Case]) -> None:
    """Acknowledge recorded cases and mark them as finished, independently of the rest of their batch."""
    for case in cases:
        case.finished = True
    waiting = (_one(case.seen.acknowledge) for case in cases if case.seen.acknowledge)
    for result in await asyncio.gather(*waiting, return_exceptions=True):
        if isinstance(result, BaseException):
            log.warning("could not acknowledge", source=source, error=str(result))


async def _one(call: Acknowledge) -> None:
    await answered(call())
