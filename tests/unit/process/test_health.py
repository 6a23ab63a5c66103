import asyncio
import errno
import socket
from collections.abc import Mapping

import aiohttp
import pytest

from switchyard.errors import AddressInUse, ConfigError
from switchyard.process import health, redact
from switchyard.process.exit import Exit
from switchyard.process.health import HealthServer, Ready
from switchyard.process.metrics import Metrics


async def good() -> Mapping[str, bool | str]:
    return {"database": True, "configuration": True}


def server(*, live: bool = True, ready: Ready = good, port: int = 0) -> HealthServer:
    return HealthServer("conductor", "127.0.0.1", port, lambda: live, ready, Metrics("test").registry)


async def get(server: HealthServer, path: str) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{server.port}{path}") as answer,
    ):
        return answer.status, await answer.text()


async def test_live_and_ready() -> None:
    async with server() as up:
        assert await get(up, "/livez") == (200, '{"live": true}')
        assert await get(up, "/readyz") == (
            200,
            '{"ready": true, "checks": {"database": true, "configuration": true}}',
        )
        assert (await get(up, "/"))[0] == 404


async def test_not_live() -> None:
    async with server(live=False) as up:
        assert await get(up, "/livez") == (503, '{"live": false}')


async def test_not_ready_gives_reasons_and_no_secret() -> None:
    redact.register_secret("hunter2hunter2")

    async def bad() -> Mapping[str, bool | str]:
        return {"database": "no route to postgresql://me:hunter2hunter2@db", "informer": False, "store": True}

    async with server(ready=bad) as up:
        status, body = await get(up, "/readyz")
    assert status == 503
    assert '"informer": false' in body
    assert "no route to postgresql://me:[redacted]@db" in body


async def test_a_check_that_breaks_reports_its_kind_only() -> None:
    async def broken() -> Mapping[str, bool | str]:
        raise RuntimeError("password is hunter2")

    async with server(ready=broken) as up:
        status, body = await get(up, "/readyz")
    assert status == 503
    assert "RuntimeError" in body
    assert "hunter2" not in body


async def test_a_check_that_hangs_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "CHECKS_WITHIN", 0.01)

    async def hanging() -> Mapping[str, bool | str]:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async with server(ready=hanging) as up:
        status, body = await get(up, "/readyz")
    assert status == 503
    assert "no answer" in body


async def test_metrics() -> None:
    metrics = Metrics("conductor")
    metrics.counter("claims", "Claims", ["action"]).labels("webhook").inc(3)
    metrics.gauge("queue_depth", "Depth").set(7)
    metrics.histogram("dispatch_seconds", "Seconds").observe(0.2)
    async with HealthServer("conductor", "127.0.0.1", 0, lambda: True, good, metrics.registry) as up:
        status, body = await get(up, "/metrics")
    assert status == 200
    assert 'switchyard_conductor_claims_total{action="webhook"} 3.0' in body
    assert "switchyard_conductor_queue_depth 7.0" in body
    assert 'switchyard_conductor_dispatch_seconds_bucket{le="0.25"} 1.0' in body
    assert 'switchyard_build_info{program="conductor",version="' in body
    assert "process_resident_memory_bytes" in body


def test_a_label_without_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="correlation_id"):
        Metrics("x").counter("claims", "Claims", ["correlation_id"])


async def test_a_port_in_use_is_reported() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(AddressInUse, match=f"127.0.0.1:{port}: another process") as caught:
            await server(port=port).start()
    assert caught.value.exit_code is Exit.CONFIG


async def test_newuser_23_a_port_in_use_names_the_variable_that_helps() -> None:
    async with server() as first:
        with pytest.raises(AddressInUse, match="SWITCHYARD_CONDUCTOR__HEALTH__PORT=0"):
            await server(port=first.port).start()


async def test_an_address_that_is_not_here() -> None:
    away = HealthServer("conductor", "192.0.2.1", 0, lambda: True, good, Metrics("x").registry)
    with pytest.raises(ConfigError, match="no such address"):
        await away.start()


async def test_two_after_each_other_get_the_same_port() -> None:
    async with server() as first:
        port = first.port
    async with server(port=port) as second:
        assert (await get(second, "/livez"))[0] == 200


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.EACCES, "no permission; ports below 1024 need privileges"),
        (errno.EAFNOSUPPORT, "Address family not supported by protocol"),
    ],
)
def test_what_the_machine_refuses_is_explained(number: int, says: str) -> None:
    """As root, which these tests may be, no port is refused."""
    told = health._explained(OSError(number, "x"), "conductor", "127.0.0.1", 80)
    assert (type(told), str(told)) == (
        ConfigError,
        f"the health server cannot listen on 127.0.0.1:80: {says}",
    )
