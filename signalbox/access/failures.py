"""Failed logins, limited per client address: guessing is refused before it is checked."""

import time
from collections import OrderedDict
from collections.abc import Callable

MOST = 20
WITHIN = 60.0
REMEMBERED = 10_000


class FailedLogins:
    """Counts failures per address within a minute; the oldest addresses are forgotten."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def blocked(self, address: str) -> float:
        """Seconds until that address may try again; 0 if it may try now."""
        began, count = self._seen.get(address, (0.0, 0))
        left = began + WITHIN - self._clock()
        return left if count >= MOST and left > 0 else 0.0

    def failed(self, address: str) -> None:
        """Count one more failure."""
        now = self._clock()
        began, count = self._seen.pop(address, (now, 0))
        if now - began > WITHIN:
            began, count = now, 0
        self._seen[address] = (began, count + 1)
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
