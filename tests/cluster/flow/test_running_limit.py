"""A workflow with limits on a real Argo: what the API server has unfinished, while conductor is killed."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.cluster.flow.conftest import Yards
from tests.cluster.flow.flows import flow, single
from tests.cluster.flow.yard import Yard
from tests.waiting import until

RUNNING, LANE_RUNNING, EXECUTIONS = 3, 2, 12
LIMITED = {
    **flow(single({"suspend": {"duration": "5"}})),
    "limits": {"running": RUNNING, "per_lane": {"running": LANE_RUNNING}},
}
FINISHED = ("Succeeded", "Failed", "Error")


class Most:
    """The most that was unfinished at once, of all and of one lane."""

    def __init__(self, lanes: dict[str, str]) -> None:
        self._lanes = lanes
        self.at_once = self.in_lane = 0

    def look(self, yard: Yard) -> None:
        unfinished = [
            item for item in yard.in_cluster() if item.get("status", {}).get("phase") not in FINISHED
        ]
        lanes = Counter(self._lanes[item["metadata"]["name"]] for item in unfinished)
        self.at_once = max(self.at_once, lanes.total())
        self.in_lane = max(self.in_lane, *lanes.values(), 0)


@contextmanager
def watched(yard: Yard, most: Most) -> Iterator[None]:
    """Look all the time."""
    stopped = threading.Event()

    def watch() -> None:
        while not stopped.wait(0.02):
            try:
                most.look(yard)
            except httpx.HTTPError:
                continue

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def test_no_more_workflows_are_unfinished_than_the_limits_allow(yards: Yards) -> None:
    yard = yards({"limited": LIMITED}, lane="$.lane")
    yard.start()
    until(lambda: yard.database.execute("select count(*) from switchyard.flow") == [(2,)])
    yard.database.execute("select switchyard.pause('argo', 'the test', 'until it counts')")
    lanes = {
        str(yard.submit("limited", lane="ABC"[number % 3])): "ABC"[number % 3] for number in range(EXECUTIONS)
    }
    most = Most(lanes)
    with watched(yard, most):
        yard.database.execute("select switchyard.resume('argo', 'the test', 'it counts')")
        until(lambda: most.at_once == RUNNING)
        yard.conductor.kill()
        yard.add_conductor()
        until(lambda: yard.ledger.open() == 0, 180, every=0.2)
    assert {status for status, _, _ in yard.ledger.threads().values()} == {"SUCCESSFUL"}
    assert most.at_once == RUNNING
    assert 0 < most.in_lane <= LANE_RUNNING
