"""Unrelated work continues beside hostile neighbours: its pace with them is compared with its pace without."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.faults.catalogue import INJECTIONS, kinds
from tests.faults.invariants import Violation
from tests.faults.plan import plan
from tests.faults.storm import storm
from tests.faults.yard import Yard
from tests.waiting import until

SLOWEST = 0.8  # of the normal throughput
LONGEST = 3.0  # times the normal p99
NOISE = 0.25  # seconds: a shorter p99 says more of the machine's other work
EVERY, COUNT = 0.02, 500
OPEN = "select count(*) from switchyard.thread t join switchyard.action a using (action_uuid) where a.correlation_id = %s and t.ended_at is null"
PACE = """
    select count(*) / extract(epoch from max(t.ended_at) - min(a.created_at)),
      percentile_cont(0.99) within group (order by extract(epoch from t.ended_at - a.created_at))
    from switchyard.action a join switchyard.thread t using (action_uuid) where a.correlation_id = %s
"""
SUBMIT = "select switchyard.submit(%s, %s, correlation_id => %s)"


@dataclass(frozen=True)
class Pace:
    """How bystanders fared."""

    throughput: float  # actions per second, from the first submit to the last end
    p99: float  # seconds from submit to end


class Bystanders:
    """Submits at a steady rate in a thread of its own, webhooks and drills in turns."""

    def __init__(self, yard: Yard, tag: str) -> None:
        self._yard, self._tag = yard, tag
        self._thread = threading.Thread(target=self._submit, daemon=True)
        self._thread.start()

    def _submit(self) -> None:
        with self._yard.database.connect() as connection:
            for number in range(COUNT):
                name = ("often", "drill")[number % 2]
                connection.execute(SUBMIT, [name, '{"how": "accept"}', self._tag])
                time.sleep(EVERY)  # the rate of the load

    def pace(self) -> Pace:
        """Wait until all have ended."""
        self._thread.join()
        until(lambda: self._yard.database.execute(OPEN, self._tag) == [(0,)], 120)
        [(throughput, p99)] = self._yard.database.execute(PACE, self._tag)
        return Pace(float(throughput), float(p99))


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
