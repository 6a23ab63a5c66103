"""Three hundred workflows of every kind of end, while everything around them is killed, cut and restarted."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from uuid import UUID

import httpx
import pytest

from switchyard.backends.argo.resource import workflows
from tests.cluster.flow.conftest import Yards
from tests.cluster.flow.flows import FLOWS
from tests.cluster.flow.yard import ENDED, Yard
from tests.parts.argo import Argo
from tests.parts.node import Node
from tests.parts.proxy import Proxy
from tests.waiting import until

HOW_MANY = {"good": 100, "nested": 40, "approval": 40, "terminated": 30, "late": 30, "deleted": 20}
EXPECTED = {
    "good": "SUCCESSFUL",
    "waker": "SUCCESSFUL",
    "approval": "SUCCESSFUL",
    "nested": "FAILED",
    "deleted": "FAILED",
    "terminated": "CANCELED",
    "late": "TIMED_OUT",
}


@pytest.fixture
def proxy(argo: Argo) -> Iterator[Proxy]:
    with Proxy(argo.cluster.port) as proxy:
        yield proxy


def submitted(yard: Yard, chance: random.Random) -> dict[UUID, str]:
    """All of them, mixed, and for each approval somebody who will give it."""
    kinds = [name for name, count in HOW_MANY.items() for _ in range(count)]
    chance.shuffle(kinds)
    uuids = {yard.submit(kind): kind for kind in kinds}
    waiting = [uuid for uuid, kind in uuids.items() if kind == "approval"]
    return uuids | {yard.submit("waker", waiting=str(uuid)): "waker" for uuid in waiting}


class Meddler:
    """Terminates and deletes what it was reported to, once it runs."""

    def __init__(self, yard: Yard, uuids: dict[UUID, str]) -> None:
        self._yard = yard
        self._left = {uuid: kind for uuid, kind in uuids.items() if kind in ("terminated", "deleted")}

    def meddle(self) -> bool:
        """Whether all has been done that was to do."""
        threads = self._yard.ledger.threads()
        for uuid, kind in list(self._left.items()):
            if threads[uuid][0] == "RUNNING" and self._done(uuid, kind):
                del self._left[uuid]
        return not self._left

    def _done(self, uuid: UUID, kind: str) -> bool:
        path = f"{workflows(self._yard.namespace)}/{uuid}"
        try:
            if kind == "deleted":
                self._yard.cluster.api.delete(path)
            else:
                self._yard.cluster.api.patch(path, {"spec": {"shutdown": "Terminate"}})
        except httpx.HTTPError:
            return False
        return True


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_is_lost_and_nothing_is_doubled(yards: Yards, argo: Argo, node: Node, proxy: Proxy) -> None:
    chance = random.Random(7)
    cluster = argo.cluster
    through = cluster.kubeconfig_of(cluster.admin_token, "admin", port=proxy.port)
    yard = yards(FLOWS, kubeconfig=through)
    uuids = submitted(yard, chance)
    meddler = Meddler(yard, uuids)
    yard.start()
    for round_ in range(6):
        time.sleep(chance.uniform(2, 4))  # not a wait for anything: the moment of the kill is the test
        victim = chance.choice([yard.conductor, yard.caboose])
        victim.kill()
        if round_ == 2:
            proxy.cut()
        if round_ == 3:
            cluster.compact()
            cluster.restart()
        victim.start()
        meddler.meddle()
    until(meddler.meddle, 200, every=0.5)
    settle(yard, uuids)
    judge(yard, uuids)


def settle(yard: Yard, uuids: dict[UUID, str]) -> None:
    """Wait for all ends; where one does not come, say what the ledger and the cluster have of it."""
    try:
        until(lambda: yard.ledger.open() == 0, 120, every=0.5)
    except AssertionError:
        threads = yard.ledger.threads()
        late = {u: (kind, threads[u]) for u, kind in uuids.items() if threads[u][0] not in ENDED}
        there = {w["metadata"]["name"]: w.get("status", {}).get("phase") for w in yard.in_cluster()}
        pytest.fail(f"still open: {late}\nin the cluster: {there}\n{yard.undelivered()}", pytrace=False)


def failed_callbacks(yard: Yard) -> list[tuple[object, ...]]:
    return yard.database.execute(
        "select a.callback, t.status::text, t.attempt, t.error from switchyard.action a join switchyard.thread t"
        " using (action_uuid) where a.parent_uuid is not null and t.status <> 'SUCCESSFUL'"
    )


def judge(yard: Yard, uuids: dict[UUID, str]) -> None:
    """Every status, message, archive and callback is right, and the cluster is empty."""
    threads = yard.ledger.threads()
    wrong = {(kind, threads[u][:2]) for u, kind in uuids.items() if threads[u][0] != EXPECTED[kind]}
    assert not wrong
    assert all("exit code 65" in str(threads[u][1]) for u, kind in uuids.items() if kind == "nested")
    assert all("vanished" in str(threads[u][1]) for u, kind in uuids.items() if kind == "deleted")
    assert all(threads[u][2] for u, kind in uuids.items() if kind in ("nested", "deleted"))
    callbacks = yard.ledger.callbacks()
    assert Counter(name for _, name in callbacks) == {"done": len(uuids), "reported": 40, "wake": 40}
    assert failed_callbacks(yard) == []
    for uuid, kind in uuids.items():
        assert callbacks[uuid, "done"][1] == {"status": EXPECTED[kind]}
        if kind != "deleted":
            assert yard.archived(uuid)["metadata"]["name"] == str(uuid)
    ends = yard.database.execute(
        "select action_uuid from switchyard.event where not ignored and source <> 'person' and "
        "status in ('SUCCESSFUL', 'FAILED', 'CANCELED', 'TIMED_OUT') group by 1 having count(*) > 1"
    )
    assert ends == []
    until(lambda: yard.in_cluster() == [], every=0.5)
