"""A namespace with room for 20 workflows, and 200 of them: the breaker slows submission, and all finish."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from switchyard.backends.argo.resource import workflows
from tests.cluster.flow.conftest import Yards
from tests.cluster.flow.flows import FLOWS
from tests.cluster.interceptor import Interceptor
from tests.parts.argo import Argo
from tests.parts.kubernetes import CORE, Cluster
from tests.waiting import until

RESOURCE = "count/workflows.argoproj.io"
FACTOR = 'switchyard_conductor_breaker_rate_factor{action_name="argo"}'
ROOM, MANY = 20, 200


@contextmanager
def counting(cluster: Cluster, namespace: str) -> Iterator[None]:
    """Stands in for the quota controller of the controller manager, which counts again after every delete."""
    stopped = threading.Event()

    def count() -> None:
        while not stopped.wait(0.2):
            try:
                used = len(cluster.api.get(workflows(namespace))["items"])
                status = {"status": {"used": {RESOURCE: str(used)}}}
                cluster.api.patch(f"{CORE}/{namespace}/resourcequotas/limit/status", status)
            except httpx.HTTPError:
                continue

    thread = threading.Thread(target=count)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


@pytest.mark.slow
def test_all_finish_and_few_are_refused(yards: Yards, argo: Argo, namespace: str, tmp_path: Path) -> None:
    cluster = argo.cluster
    cluster.quota(namespace, RESOURCE, ROOM)
    with Interceptor(cluster) as between, counting(cluster, namespace):
        yard = yards(
            FLOWS,
            kubeconfig=between.kubeconfig(tmp_path, cluster.admin_token),
            rate={"limit": "50/s", "burst": 20},
            breaker={"patterns": [{"error": "exceeded quota"}]},
        )
        for _ in range(MANY):
            yard.submit("good")
        yard.start()
        slowest = 1.0

        def all_done() -> bool:
            nonlocal slowest
            slowest = min(slowest, yard.metric(FACTOR) or 1.0)
            return yard.ledger.open() == 0

        until(all_done, 240, every=0.1)
        assert {status for status, _, _ in yard.ledger.threads().values()} == {"SUCCESSFUL"}
        refused = between.count("POST", 403)
        assert 0 < refused < 3 * MANY
        assert slowest < 0.5, "the breaker slowed it down"
        for _ in range(ROOM // 2):
            yard.submit("good")
        until(lambda: yard.ledger.open() == 0, every=0.2)
        until(lambda: yard.metric(FACTOR) == 1.0, every=0.2)
