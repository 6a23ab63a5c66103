"""The doctor on servers that are not well."""

import psycopg
import pytest
from psycopg.rows import dict_row

from switchyard.errors import DatabaseUnavailable
from switchyard.ledger import migrate
from switchyard.ledger.connect import connect_sync
from switchyard.ledger.doctor import GRANT, Finding, examine
from tests.parts.database import Database
from tests.parts.pgbouncer import PgBouncer
from tests.parts.postgres import Server


def findings(url: str) -> dict[str, Finding]:
    with connect_sync(url, application_name="test") as connection:
        connection.row_factory = dict_row  # type: ignore[assignment]
        return {finding.check: finding for finding in examine(connection, url)}  # type: ignore[arg-type]


def test_a_transaction_pooling_proxy_is_seen(database: Database, pgbouncer: PgBouncer) -> None:
    direct, pooled = findings(database.url), findings(pgbouncer.url(database.name))
    assert direct["connection"].state == "good"
    assert (pooled["connection"].state, pooled["connection"].advice) == (
        "bad",
        "connect directly: locks belong to a session",
    )


def test_a_database_without_the_ledger_is_told_to_migrate(own_postgres: Server) -> None:
    found = findings(own_postgres.url())
    assert (found["migrations"].state, found["migrations"].advice) == ("bad", "run `switchyard migrate`")
    migrate.upgrade(own_postgres.url())
    found = findings(own_postgres.url())
    assert {finding.state for finding in found.values()} == {"good"}, found


def test_what_is_wrong_with_a_ledger_is_named(own_postgres: Server) -> None:
    url = own_postgres.url()
    migrate.upgrade(url)
    with connect_sync(url, application_name="test") as connection:
        connection.execute("alter database postgres set synchronous_commit = off")
        connection.execute("delete from switchyard.partition_span where starts_at > now()")
        connection.execute(
            "insert into switchyard.worker (kind, host, slots, config_hash)"
            " values ('conductor', 'a', 1000000, 'x'), ('conductor', 'b', 1, 'y')"
        )
    found = {finding.check: (finding.state, finding.found) for finding in findings(url).values()}
    assert found["durability"] == ("warning", "synchronous_commit is off")
    assert found["partitions"][0] == "warning"
    assert found["locks"][0] == "bad"
    assert found["configuration"] == ("warning", "2 different ones among the running workers")
    with connect_sync(url, application_name="test") as connection:
        connection.execute("delete from switchyard.partition_span")
    assert findings(url)["partitions"].found == "there is none for now: nothing can be submitted"


def test_a_user_without_a_role_is_told_which_it_needs(own_postgres: Server) -> None:
    url = own_postgres.url()
    migrate.upgrade(url)
    with connect_sync(url, application_name="test") as connection:
        connection.execute("create role somebody login")
    somebody = psycopg.conninfo.make_conninfo(url, user="somebody")
    assert (findings(somebody)["migrations"].state, findings(somebody)["migrations"].advice) == ("bad", GRANT)
    with connect_sync(url, application_name="test") as connection:
        connection.execute("grant select on public.migration to somebody")
    assert (findings(somebody)["migrations"].state, findings(somebody)["privileges"].advice) == (
        "good",
        GRANT,
    )
    with connect_sync(url, application_name="test") as connection:
        connection.execute("revoke select on public.migration from somebody")
        connection.execute("grant switchyard_worker to somebody")
    assert {finding.state for finding in findings(somebody).values()} == {"good"}


def test_a_standby_is_refused_before_it_is_asked_anything(own_postgres: Server, standby: Server) -> None:
    with pytest.raises(DatabaseUnavailable, match="read-only"):
        findings(standby.url())
