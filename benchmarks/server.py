"""The server of the benchmarks: durable, with room for many locks, otherwise default settings."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import psycopg
from psycopg import sql

from tests.parts.postgres import Server, binaries

SETTINGS = {
    "shared_buffers": "1GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
    "max_locks_per_transaction": "256",
}
_number = count(1)


@contextmanager
def server(**settings: str) -> Iterator[Server]:
    """A Postgres of the benchmark's own."""
    made = Server(binaries("embedded"), {**SETTINGS, **settings})
    try:
        made.start()
        yield made
    finally:
        made.close()


def fresh(server: Server) -> str:
    """The URL of a new, empty database."""
    name = f"bench{next(_number)}"
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    return server.url(name)


def settle_down(url: str) -> None:
    """Vacuum and checkpoint, so that filling is not part of the measurement."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")
        connection.execute("checkpoint")
