"""The lease: one works, one stands by, and takes over."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator

import pytest

from switchyard.backends.argo.lease import Lease
from switchyard.backends.kubernetes.client import Cluster as Client
from switchyard.backends.kubernetes.credentials import Credentials
from tests.parts.kubernetes import Cluster
from tests.parts.proxy import Proxy


@pytest.fixture
async def client(kubernetes: Cluster) -> AsyncIterator[Client]:
    client = Client(Credentials(kubernetes.kubeconfig))
    yield client
    await client.close()


async def test_of_two_only_one_holds_it(client: Client, namespace: str) -> None:
    pair = [Lease(client, namespace, "caboose", name, duration=2) for name in ("a", "b")]
    assert sorted(await asyncio.gather(*(lease.tick() for lease in pair))) == [False, True]
    for _ in range(4):
        await asyncio.sleep(0.2)  # not a wait for anything: the pace of the looks
        await asyncio.gather(*(lease.tick() for lease in pair))
        assert [lease.held for lease in pair].count(True) == 1


async def test_a_released_one_is_taken_at_the_next_look(client: Client, namespace: str) -> None:
    first, second = (Lease(client, namespace, "caboose", name) for name in ("a", "b"))
    assert await first.tick()
    assert not await second.tick()
    await first.release()
    assert not first.held
    assert await second.tick()
    assert not await first.tick()


async def test_a_dead_holder_is_followed_after_the_duration_by_ones_own_clock(
    client: Client, namespace: str
) -> None:
    dead, standby = (Lease(client, namespace, "caboose", name, duration=1) for name in ("a", "b"))
    assert await dead.tick()
    began = time.monotonic()
    while not await standby.tick():
        assert time.monotonic() - began < 5
        await asyncio.sleep(0.1)
    assert time.monotonic() - began >= 1
    assert not dead.held, "it stopped believing before the other took over"


async def test_a_holder_cut_off_stops_believing_before_another_takes_over(
    client: Client, kubernetes: Cluster, namespace: str
) -> None:
    with Proxy(kubernetes.port) as proxy:
        through = kubernetes.kubeconfig_of(kubernetes.admin_token, "admin", port=proxy.port)
        far = Client(Credentials(through), timeout=1)
        cut_off = Lease(far, namespace, "caboose", "a", duration=2)
        standby = Lease(client, namespace, "caboose", "b", duration=2)
        assert await cut_off.tick()
        await asyncio.to_thread(proxy.refuse)
        began = time.monotonic()
        while not await standby.tick():
            assert time.monotonic() - began < 10
            both = cut_off.held and standby.held
            assert not both
            await asyncio.gather(cut_off.tick(), asyncio.sleep(0.1))
        assert not cut_off.held
        await far.close()


async def test_a_lease_that_lapsed_for_a_moment_is_followed_by_a_new_stream(
    client: Client, namespace: str
) -> None:
    """Whoever acted on the stream dropped what it gave meanwhile, and nobody else was there to see it."""
    lease = Lease(client, namespace, "caboose", "a", duration=2)
    streams = 0

    async def stream() -> AsyncGenerator[int]:
        nonlocal streams
        streams += 1
        yield streams
        await asyncio.Event().wait()

    async with asyncio.timeout(20), contextlib.aclosing(lease.while_held(stream)) as held:
        assert await anext(held) == 1
        lease._renewed = float("-inf")  # as where the answer to its last renewal came late
        assert await anext(held) == 2
        assert lease.held
