"""Waiting for the end of a job, for a request that wants its results (RFC 7240: `respond-async`, `wait`)."""

import asyncio
import re
from uuid import UUID

from signalbox.access.roles import Caller
from signalbox.database import Statement
from signalbox.site import Site
from switchyard.ledger.queries import query

MOST = 100  # requests that wait at the same time; others are answered with their job
FIRST, LONGEST = 0.02, 0.5
ENDED = query("signalbox", "ended")
_WAIT = re.compile(r"\bwait\s*=\s*\"?(\d{1,9})")


def seconds_to_wait(prefer: str, allowed: float | None) -> float:
    """0 for an immediate answer; a client without a preference waits, as the standard requires."""
    if allowed is None:
        return 0.0
    given = _WAIT.search(prefer)
    if given is not None:
        return min(float(given[1]), allowed)
    return 0.0 if "respond-async" in prefer else allowed


async def has_ended(site: Site, caller: Caller, job: UUID, seconds: float) -> bool:
    """Whether the job ends within this many seconds. Holds no connection while it waits."""
    if site.waiting >= MOST:
        return False
    site.waiting += 1
    asked = Statement(caller, ENDED, {"job": job})
    try:
        async with asyncio.timeout(seconds):
            pause = FIRST
            while not site.live.closed:
                if (await site.database.once(asked))["ended"]:
                    return True
                await asyncio.sleep(pause)
                pause = min(pause * 1.5, LONGEST)
    except TimeoutError:
        pass
    finally:
        site.waiting -= 1
    return False
