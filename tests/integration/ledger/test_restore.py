"""pg_dump, and a restore into another database of the same server: neither ledger notices the other."""

import subprocess
from pathlib import Path

import psycopg
import pytest

from switchyard.ledger import migrate
from tests.parts.postgres import Server

pytestmark = pytest.mark.database

CLAIM = "select uuids from switchyard.claim('hook', 10)"
END = (
    "insert into switchyard.event (action_uuid, status, run, attempt, source)"
    " select unnest(%s::uuid[]), 'SUCCESSFUL', 1, 1, 'test'"
)
STATUSES = "select status::text, count(*)::integer from switchyard.thread group by 1 order by 1"


def copy(server: Server, source: str, target: str, folder: Path) -> None:
    """As an operator would: a custom-format dump, restored into a new database."""
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"create database {target}".encode())
    dump = folder / "ledger.dump"
    subprocess.run([server.binaries / "pg_dump", "-Fc", "-f", dump, "-d", server.url(source)], check=True)
    subprocess.run(
        [server.binaries / "pg_restore", "--exit-on-error", "-d", server.url(target), dump], check=True
    )


def test_a_restored_ledger_and_the_original_go_on_without_each_other(
    own_postgres: Server, tmp_path: Path
) -> None:
    original = own_postgres.url()
    migrate.upgrade(original)
    with psycopg.connect(original, autocommit=True) as here:
        here.execute(
            "select switchyard.submit('hook', idempotency_key => 'k' || n) from generate_series(1, 5) as n"
        )
        [(ended,)] = here.execute("select uuids from switchyard.claim('hook', 1)").fetchall()
        here.execute(END, (ended,))
        here.execute("select pg_advisory_unlock_all()")
        [(held,)] = here.execute("select uuids from switchyard.claim('hook', 1)").fetchall()  # in flight
        copy(own_postgres, "postgres", "restored", tmp_path)
        restored = own_postgres.url("restored")
        assert migrate.pending(restored) == []
        migrate.upgrade(restored)
        with psycopg.connect(restored, autocommit=True) as there:
            assert there.execute(STATUSES).fetchall() == [("PENDING", 4), ("SUCCESSFUL", 1)]
            # The lock of what is in flight belongs to the other database.
            [(claimed,)] = there.execute(CLAIM).fetchall()
            assert len(claimed) == 4
            assert set(held) < set(claimed)
            there.execute(END, (claimed,))
            assert there.execute("select * from switchyard.verify()").fetchall() == []
            key = there.execute("select switchyard.submit('hook', idempotency_key => 'k1')").fetchone()
            assert key == here.execute("select switchyard.submit('hook', idempotency_key => 'k1')").fetchone()
        assert here.execute(STATUSES).fetchall() == [("PENDING", 4), ("SUCCESSFUL", 1)]
        here.execute(END, (held,))
        assert here.execute("select * from switchyard.verify()").fetchall() == []
