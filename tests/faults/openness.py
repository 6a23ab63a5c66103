"""What is open at a receiver, by the receiver's own clock, and whether that was ever more than the limits allow.

A request is open from its arrival until it is answered or its sender hangs up: a killed conductor, or one that has
waited long enough. Whoever hung up did so a moment before it was noticed here.
"""

import select
import socket
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

LIMIT, LANE_LIMIT = 6, 2  # in flight, of the name and of each lane
RATE, BURST = 2, 3  # of each lane
NOTICED = 1.0  # seconds until a sender that hung up is noticed, on a busy machine
LATE = 5.0  # seconds from a token, in the database, to the arrival: a claim's answer may take four
AFTER = 10.0  # seconds after a lapse in which what was claimed before may still arrive


@dataclass(frozen=True, slots=True)
class Request:
    """One request of an action with limits; times by the monotonic clock."""

    path: str
    came: float
    went: float
    hung_up: bool = False

    @property
    def closed(self) -> float:
        """When its sender may have taken it for closed."""
        return max(self.came, self.went - NOTICED) if self.hung_up else self.went


class Openness:
    """Works for every request of one action name, and notes when it was open."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._guard = threading.Lock()
        self._requests: list[Request] = []

    @property
    def requests(self) -> list[Request]:
        with self._guard:
            return list(self._requests)

    def work(self, path: str, sender: socket.socket, delay: float) -> None:
        """Take some time, and notice when the sender hangs up: nothing else comes before the answer."""
        came = time.monotonic()
        waiting = select.poll()
        waiting.register(sender, select.POLLIN)
        hung_up = bool(waiting.poll((self._seconds + delay) * 1000))
        with self._guard:
            self._requests.append(Request(path, came, time.monotonic(), hung_up))


def excesses(lanes: dict[str, list[Request]], lapses: Sequence[float]) -> Iterator[str]:
    """Where more was open, or more came in a time, than the limits allow; not shortly after a lapse.

    A lapse is a moment at which what is exact no longer is: a conductor woke that was stopped, with what it had
    claimed; or the server's clock jumped, by which rates and the wait for dead sessions are measured.
    """
    for lane, requests in lanes.items():
        for at, count in _most_open(requests):
            if count > LANE_LIMIT and not _excused(at, lapses):
                yield f"{count} requests of {lane} were open at once, and {LANE_LIMIT} may be"
        yield from _too_fast(lane, sorted(request.came for request in requests), sorted(lapses))
    for at, count in _most_open(request for requests in lanes.values() for request in requests):
        if count > LIMIT and not _excused(at, lapses):
            yield f"{count} requests were open at once, and {LIMIT} may be"


def by_lane(requests: Iterable[Request], lane_of: dict[str, str]) -> dict[str, list[Request]]:
    """The requests of each lane; `lane_of` has the lanes by path."""
    found: dict[str, list[Request]] = defaultdict(list)
    for request in requests:
        if request.path in lane_of:
            found[lane_of[request.path]].append(request)
    return found


def _most_open(requests: Iterable[Request]) -> Iterator[tuple[float, int]]:
    steps = sorted(step for each in requests for step in ((each.came, 1), (each.closed, -1)))
    count = 0
    for at, step in steps:  # of two at one time the end comes first
        count += step
        if step > 0:
            yield at, count


def _too_fast(lane: str, times: Sequence[float], lapses: Sequence[float]) -> Iterator[str]:
    for first, start in enumerate(times):
        for count, end in enumerate(times[first:], 1):
            jumps = bisect_left(lapses, end) - bisect_left(lapses, start - LATE)
            if count > RATE * (end - start + LATE) + BURST * (1 + jumps):
                yield f"{count} requests of {lane} came in {end - start:.1f} s"
                return


def _excused(at: float, lapses: Sequence[float]) -> bool:
    return any(lapse - NOTICED <= at <= lapse + AFTER for lapse in lapses)
