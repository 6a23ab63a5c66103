"""The proxy does to a connection what its methods say."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.parts.database import Database
from tests.parts.postgres import Server
from tests.parts.proxy import RESET, Proxy
from tests.waiting import until


@pytest.fixture
def proxy(own_postgres: Server) -> Iterator[Proxy]:
    with Proxy(own_postgres.port) as proxy:
        yield proxy


def _connect(proxy: Proxy) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres", connect_timeout=2)


def test_each_failure_in_turn(proxy: Proxy) -> None:
    with _connect(proxy) as connection:
        assert connection.execute("select 1").fetchone() == (1,)
        proxy.cut()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("select 1")
    proxy.refuse()
    with pytest.raises(psycopg.OperationalError, match="refused"):
        _connect(proxy)
    proxy.resume()
    with _connect(proxy) as connection:
        proxy.delay(0.2)
        before = time.monotonic()
        connection.execute("select 1")
        assert time.monotonic() - before >= 0.4
    assert proxy.accepted == 2


def test_a_connection_that_closed_meanwhile_can_be_cut(proxy: Proxy) -> None:
    proxy.silence()  # so that the proxy does not clean up after the client
    with socket.create_connection(("127.0.0.1", proxy.port)) as client:
        until(lambda: proxy._writers)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    until(lambda: all(writer.transport.is_closing() for writer in proxy._writers))
    proxy.cut()


def test_silence_is_not_a_closed_connection(proxy: Proxy) -> None:
    with _connect(proxy) as connection, ThreadPoolExecutor() as pool:
        proxy.silence()
        answer = pool.submit(lambda: connection.execute("select 1").fetchone())
        with pytest.raises(psycopg.errors.ConnectionTimeout):
            _connect(proxy)
        assert not answer.done()
        proxy.resume()
        assert answer.result(10) == (1,)


def test_in_the_silence_no_side_notices_that_the_other_has_gone(proxy: Proxy, own_postgres: Server) -> None:
    server = Database("postgres", own_postgres.url())
    connection = _connect(proxy)
    pid = connection.info.backend_pid
    proxy.silence()
    connection.close()
    for _ in range(10):
        assert server.execute("select 1 from pg_stat_activity where pid = %s", pid)
    proxy.resume()
    until(lambda: not server.execute("select 1 from pg_stat_activity where pid = %s", pid))
