"""The pooling proxy pools transactions: two statements of one client may meet two servers."""

import psycopg
import pytest

from tests.parts.pgbouncer import PgBouncer


@pytest.mark.database
def test_a_session_does_not_stay_with_its_server(pgbouncer: PgBouncer) -> None:
    url = pgbouncer.url()
    with psycopg.connect(url, autocommit=True) as one, psycopg.connect(url, autocommit=True) as other:
        [(mine,)] = one.execute("select pg_backend_pid()")
        with other.transaction():
            [(theirs,)] = other.execute("select pg_backend_pid()")
            [(moved,)] = one.execute("select pg_backend_pid()")
    assert mine == theirs
    assert moved != mine
