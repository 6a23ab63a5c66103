"""A submission in a transaction that is prepared for two-phase commit."""

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from switchyard.ledger.migrate import upgrade
from tests.parts.postgres import Server, binaries

ARM = "select pg_advisory_lock(1937204078, switchyard.bell_key('hook'))"


@pytest.fixture
def preparing() -> Iterator[Server]:
    with closing(Server(binaries("embedded"), {"max_prepared_transactions": "2"})) as server:
        server.start()
        upgrade(server.url())
        yield server


def test_hole_36_a_submission_that_notifies_a_conductor_cannot_be_prepared(preparing: Server) -> None:
    with psycopg.connect(preparing.url(), autocommit=True) as connection:
        connection.execute("begin")
        connection.execute("select switchyard.submit('hook')")
        connection.execute("prepare transaction 'first'")
        connection.execute("commit prepared 'first'")
        with psycopg.connect(preparing.url(), autocommit=True) as conductor:
            conductor.execute(ARM)
            connection.execute("begin")
            connection.execute("select switchyard.submit('hook')")
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="NOTIFY"):
                connection.execute("prepare transaction 'second'")
        assert connection.execute("select count(*) from switchyard.thread").fetchall() == [(1,)]
