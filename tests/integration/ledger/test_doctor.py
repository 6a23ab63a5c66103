"""The doctor on servers that are not well."""

from psycopg.rows import dict_row

from switchyard.ledger import migrate
from switchyard.ledger.connect import connect_sync
from switchyard.ledger.doctor import Finding, examine
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
