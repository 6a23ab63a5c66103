"""The end of a campaign: everything is asked to stop, and nothing is left of it."""

import time
from collections.abc import Iterator
from typing import LiteralString

from tests.faults.facts import PASSING
from tests.faults.invariants import Violation
from tests.faults.yard import Yard

LOCKS = "select count(*) from pg_locks where locktype = 'advisory'"
ROWS = "select count(*) from switchyard.worker where ended_at is null and lost_at is null and kind <> 'assessment'"


def farewell(yard: Yard) -> Iterator[Violation]:
    """SIGTERM to all: each ends with 0 and closes its row, and no lock of any kind is held."""
    for name, code in yard.stop().items():
        if code != 0:
            yield Violation("clean stop", f"{name} ended with {code}")
    for what, statement in (("locks", LOCKS), ("rows of workers", ROWS)):
        count = _lasting(yard, statement)
        if count:
            yield Violation("clean stop", f"{count} {what} are left")


def _lasting(yard: Yard, statement: LiteralString) -> int:
    """How many are left after a few seconds: the server takes its time to notice that a process has ended."""
    deadline = time.monotonic() + PASSING
    while True:
        ((count,),) = yard.database.execute(statement)
        if not count or time.monotonic() > deadline:
            return int(count)
        time.sleep(0.1)  # until the server has noticed
