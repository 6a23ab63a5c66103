"""at_most_once on a server that acknowledges commits before they are durable, and then crashes."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from switchyard.ledger.migrate import upgrade
from tests.acceptance.conductor.counting import Counting
from tests.acceptance.conductor.test_run import webhook
from tests.deployment.deployment import Deployment
from tests.parts.database import Database
from tests.parts.postgres import Server, binaries
from tests.waiting import until

LAZY = {"synchronous_commit": "off", "wal_writer_delay": "10s"}


@pytest.fixture
def lazy() -> Iterator[Server]:
    with closing(Server(binaries("embedded"), LAZY)) as server:
        server.start()
        upgrade(server.url())
        yield server


def submit_durably(server: Server) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("set synchronous_commit = on")
        connection.execute("select switchyard.submit('webhook')")


def test_hole_24_a_delivery_under_way_when_the_server_crashes_is_not_repeated(
    lazy: Server, tmp_path: Path, counts: Counting
) -> None:
    counts.gate.clear()
    with closing(Deployment(Database("postgres", lazy.url()), tmp_path)) as deployment:
        deployment.add_conductor(webhook(counts, delivery="at_most_once"))
        deployment.registered(1)
        submit_durably(lazy)
        until(lambda: counts.seen.total() == 1)
        lazy.crash()
        counts.gate.set()
        until(lambda: deployment.ledger.counts() == {"FAILED": 1})
    assert counts.seen.total() == 1
