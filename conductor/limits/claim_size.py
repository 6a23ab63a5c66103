"""Halves the size of claims for a while after one has failed."""

import time
from collections.abc import Callable

CAREFUL_FOR = 60.0  # seconds after a failure, or after parts that were large


class ClaimSize:
    """How many actions of one name a claim may take, and whether in parts."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._most = 0
        self._until = 0.0

    @property
    def in_parts(self) -> bool:
        """Whether a claim has failed recently."""
        return self._clock() < self._until

    def wanted(self, room: int) -> int:
        """The size of the next claim, at most the free slots."""
        return min(room, self._most) if self.in_parts else room

    def failed(self, wanted: int) -> None:
        """Halve the size after a failed claim."""
        self._most = max(1, wanted // 2)
        self._until = self._clock() + CAREFUL_FOR

    def still_slow(self) -> None:
        """Stay in parts: a whole claim would fail again."""
        self._until = self._clock() + CAREFUL_FOR
