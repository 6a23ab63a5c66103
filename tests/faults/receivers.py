"""The receivers of the webhooks: they count what arrives and what they take, and can be slow, broken or away."""

import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tests.acceptance.conductor.counting import Counting, counting
from tests.faults.openness import Openness
from tests.parts.proxy import Proxy

REFUSALS = 2  # how often a flaky one says no
LANED = 0.2  # seconds that a request of a lane takes
HANGS = 5.0  # seconds, longer than anybody waits


class Receivers:
    """All of them, behind one network; the path says whose webhook it is and what its receiver is like."""

    def __init__(self, counts: Counting, network: Proxy) -> None:
        self._counts = counts
        self.network = network
        self.url = f"http://127.0.0.1:{network.port}"
        self.taken: Counter[str] = Counter()
        self.first: dict[str, tuple[float, float | None]] = {}  # when each arrived, and when it was taken
        self.failing = False
        self.laned = Openness(LANED)
        self.lapses: list[float] = []  # when limits may have been exceeded, by the monotonic clock
        counts.status, counts.work = self._status, self._work

    @property
    def arrived(self) -> Counter[str]:
        """How often each path was asked for."""
        return self._counts.seen

    def slow(self, seconds: float) -> None:
        self._counts.delay = seconds

    def lapse(self) -> None:
        """From now on, for a short time, what limits promise does not hold."""
        self.lapses.append(time.monotonic())

    def _work(self, path: str, sender: socket.socket) -> None:
        if path.startswith("/laned/"):
            self.laned.work(path, sender, self._counts.delay)
        else:
            time.sleep(self._counts.delay)

    def _status(self, path: str) -> int:
        arrived, _ = self.first.setdefault(path, (time.monotonic(), None))
        if self.failing:
            return 503
        how = path.rsplit("/", 1)[1]
        if how == "hang":
            time.sleep(HANGS)
        if how == "refuse":
            return 400
        if how == "fail" or (how == "flaky" and self._counts.seen[path] <= REFUSALS):
            return 500
        if not self.taken[path]:
            self.first[path] = (arrived, time.monotonic())
        self.taken[path] += 1
        return 200


@contextmanager
def receivers() -> Iterator[Receivers]:
    """Started ones."""
    with counting() as counts, Proxy(counts.port) as network:
        yield Receivers(counts, network)
