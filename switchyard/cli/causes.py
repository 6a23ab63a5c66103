"""Causes as people type them, and a pace at which their actions are retriggered.

A cause is too long to type, so a unique beginning of one in the inbox is enough.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from switchyard.cli.database import Rows
from switchyard.cli.filters import Filter
from switchyard.config.units import parse_rate
from switchyard.errors import BadInput
from switchyard.ledger.queries import query

RECENT = 1_000  # of those just retriggered, whose retries are watched
_STEP = 1.0  # seconds: as many as the rate allows in this time are one group


def with_whole_cause(connection: Rows, chosen: Filter) -> Filter:
    """The filter with the whole cause; unchanged without one."""
    if chosen.cause is None:
        return chosen
    rows = connection.execute(query("look", "causes_like"), {"given": chosen.cause}).fetchall()
    found = [row["cause"] for row in rows]
    if chosen.cause in found or not found:
        return chosen
    if len(found) > 1:
        shown = "; ".join(found[:3])
        raise BadInput(f"--cause: several causes in the inbox begin with {chosen.cause!r}: {shown}")
    return replace(chosen, cause=found[0])


def rate_of(given: str | None) -> float | None:
    """The rate of `--rate`, in actions per second."""
    if given is None:
        return None
    try:
        rate = parse_rate(given)
    except ValueError as error:
        raise BadInput(f"--rate: {error}") from error
    if rate <= 0:
        raise BadInput("--rate: must be above 0")
    return rate


@dataclass
class Pace:
    """Yields actions at a rate, until the cause of their failure returns.

    It has returned if any action ends with it, or if one that was just retriggered waits for a retry
    with it: the end of that one may be hours away.
    """

    connection: Rows
    rate: float
    most: int
    returned: dict[str, Any] | None = None
    _causes: list[str] = field(default_factory=list)
    _began: Any = None
    _next_look: float = 0.0

    def groups(self, uuids: Sequence[UUID]) -> Iterator[list[UUID]]:
        """Yield one group after the other, as fast as the rate allows."""
        [row] = self.connection.execute(query("look", "causes_of"), {"uuids": list(uuids)}).fetchall()
        self._causes, self._began = row["causes"], row["began"]
        size = max(1, min(self.most, int(self.rate * _STEP)))
        began = time.monotonic()
        for start in range(0, len(uuids), size):
            self._wait(began + start / self.rate, uuids[max(0, start - RECENT) : start])
            if self.returned is not None:
                return
            yield list(uuids[start : start + size])

    def _wait(self, until: float, recent: Sequence[UUID]) -> None:
        """Looks every second while it waits, more rarely where that takes long."""
        while True:
            if recent and time.monotonic() >= self._next_look:
                self._look(recent)
            left = until - time.monotonic()
            if self.returned is not None or left <= 0:
                return
            time.sleep(min(left, _STEP))

    def _look(self, recent: Sequence[UUID]) -> None:
        began = time.monotonic()
        values = {"causes": self._causes, "began": self._began, "recent": list(recent)}
        self.returned = self.connection.execute(query("look", "returned"), values).fetchone()
        self._next_look = time.monotonic() + 9 * (time.monotonic() - began)
