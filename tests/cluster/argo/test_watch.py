"""The informer when the watch is cut, the API server restarts, and its history is compacted away."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from switchyard.backends.argo.resource import workflows
from switchyard.status import Status
from tests.cluster.argo.test_source import AT_ONCE, WAIT, single
from tests.cluster.argo.watching import Listener, listening, local_store, source, submit
from tests.parts.argo import Argo
from tests.parts.kubernetes import Cluster
from tests.parts.proxy import Proxy
from tests.waiting import eventually


@pytest.fixture
def proxy(kubernetes: Cluster) -> Iterator[Proxy]:
    with Proxy(kubernetes.port) as proxy:
        yield proxy


@pytest.fixture
async def listener(argo: Argo, proxy: Proxy, namespace: str, tmp_path: Path) -> AsyncIterator[Listener]:
    through = argo.cluster.kubeconfig_of(argo.cluster.admin_token, "admin", port=proxy.port)
    async with listening(source(through, namespace, local_store(tmp_path))) as listener:
        yield listener


async def test_a_cut_watch_goes_on_where_it_was(
    listener: Listener, proxy: Proxy, kubernetes: Cluster, namespace: str
) -> None:
    first = submit(kubernetes, namespace, single(AT_ONCE))
    await listener.until(first, Status.SUCCESSFUL)
    for _ in range(3):
        await asyncio.to_thread(proxy.cut)
        uuid = submit(kubernetes, namespace, single(AT_ONCE))
        await listener.until(uuid, Status.SUCCESSFUL)
    assert listener.of(first).count(Status.SUCCESSFUL) == 1, "no relist was needed"


async def test_what_went_away_while_not_watched_is_reported(
    listener: Listener, proxy: Proxy, kubernetes: Cluster, namespace: str
) -> None:
    """Compaction between makes the old version useless: 410, a new list, and what is missing is gone."""
    kept = submit(kubernetes, namespace, single(WAIT))
    lost = submit(kubernetes, namespace, single(WAIT))
    await listener.until(kept, Status.RUNNING)
    await listener.until(lost, Status.RUNNING)
    await asyncio.to_thread(proxy.refuse)
    kubernetes.api.delete(f"{workflows(namespace)}/{lost}")
    new = submit(kubernetes, namespace, single(AT_ONCE))
    await asyncio.to_thread(kubernetes.compact)
    await asyncio.to_thread(kubernetes.restart)
    await asyncio.to_thread(proxy.resume)
    await listener.until(lost, None)
    await listener.until(new, Status.SUCCESSFUL, 120)
    assert None not in listener.of(kept)
    assert listener.source.present(kept, 1)


async def test_an_api_server_that_comes_back_is_watched_again(
    listener: Listener, kubernetes: Cluster, namespace: str
) -> None:
    uuid = submit(kubernetes, namespace, single(WAIT))
    await listener.until(uuid, Status.RUNNING)
    await asyncio.to_thread(kubernetes.restart)
    await listener.source.stop_execution(uuid, 1, "test")
    await listener.until(uuid, Status.CANCELED, 120)
    await eventually(lambda: listener.source.present(uuid, 1))
