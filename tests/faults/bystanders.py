"""Unrelated work continues beside hostile neighbours: its pace with them is compared with its pace without."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from tests.faults.catalogue import INJECTIONS, kinds
from tests.faults.invariants import Violation
from tests.faults.plan import plan
from tests.faults.storm import storm
from tests.faults.yard import Yard

SLOWEST = 0.8  # of the normal throughput
LONGEST = 3.0  # times the normal p99
NOISE = 0.25  # seconds: a shorter p99 says more of the machine's other work
EVERY, COUNT = 0.02, 500
LOOK = 0.05  # seconds between two looks at what has ended
PATIENCE = 180.0
ENDED = """
    select t.action_uuid from switchyard.thread t join switchyard.action a using (action_uuid)
    where a.correlation_id = %s and t.ended_at is not null
"""
SUBMIT = "select switchyard.submit(%s, %s, correlation_id => %s)"


@dataclass(frozen=True)
class Pace:
    """How bystanders fared."""

    throughput: float  # actions per second, from the first submit to the last end
    p99: float  # seconds from submit to end


class Bystanders:
    """Submits at a steady rate, webhooks and drills in turns, and notes by its own clock when each has ended."""

    def __init__(self, yard: Yard, tag: str) -> None:
        self._yard, self._tag = yard, tag
        self._began: dict[UUID, float] = {}
        self._ended: dict[UUID, float] = {}
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._submit, self._watch)]
        for thread in self._threads:
            thread.start()

    def _submit(self) -> None:
        with self._yard.database.connect() as connection:
            for number in range(COUNT):
                name = ("often", "drill")[number % 2]
                began = time.monotonic()
                [(uuid,)] = connection.execute(SUBMIT, [name, '{"how": "accept"}', self._tag]).fetchall()
                self._began[uuid] = began
                time.sleep(EVERY)  # the rate of the load

    def _watch(self) -> None:
        deadline = time.monotonic() + PATIENCE
        with self._yard.database.connect() as connection:
            while len(self._ended) < COUNT and time.monotonic() < deadline:
                found = {uuid for (uuid,) in connection.execute(ENDED, [self._tag]).fetchall()}
                self._ended |= dict.fromkeys(found - self._ended.keys(), time.monotonic())
                time.sleep(LOOK)  # as exactly as the pace is measured

    def pace(self) -> Pace:
        """Wait until all have ended."""
        for thread in self._threads:
            thread.join()
        assert len(self._ended) == COUNT, f"{COUNT - len(self._ended)} bystanders have not ended"
        took = sorted(self._ended[uuid] - began for uuid, began in self._began.items())
        elapsed = max(self._ended.values()) - min(self._began.values())
        return Pace(COUNT / elapsed, took[int(0.99 * COUNT)])


def disturbed(yard: Yard, seed: int) -> Iterator[Violation]:
    """What hostile neighbours did to others. Nothing else is struck meanwhile."""
    hostile = [kind for kind in kinds(yard) if kind.grip == "neighbour"]
    [planned] = plan(seed, 3 * len(hostile), 3 * len(hostile), hostile)
    normal = Bystanders(yard, f"normal-{seed}").pace()
    beside = Bystanders(yard, f"beside-{seed}")
    storm(yard, planned, INJECTIONS)
    yield from compared(normal, beside.pace())


def compared(normal: Pace, beside: Pace) -> Iterator[Violation]:
    """Where the difference is too large."""
    if beside.throughput < SLOWEST * normal.throughput:
        text = f"{beside.throughput:.1f} actions/s, {normal.throughput:.1f} without hostile neighbours"
        yield Violation("unrelated work continues", text)
    if beside.p99 > max(LONGEST * normal.p99, NOISE):
        text = f"p99 {beside.p99:.2f} s, {normal.p99:.2f} s without hostile neighbours"
        yield Violation("unrelated work continues", text)
