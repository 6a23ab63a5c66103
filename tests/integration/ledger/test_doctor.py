"""The doctor on servers that are not well."""

from contextlib import closing
from functools import partial

import psycopg
import pytest
from psycopg.rows import dict_row

from switchyard.errors import DatabaseUnavailable, NotDirect
from switchyard.ledger import migrate
from switchyard.ledger.connect import connect_sync
from switchyard.ledger.doctor import GRANT, Finding, _clock, _old_transactions, _server, examine
from tests.parts.database import Database
from tests.parts.need import obtain
from tests.parts.pgbouncer import PgBouncer
from tests.parts.postgres import Postgres, Server


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


def test_a_proxy_that_pools_sessions_is_good_and_one_that_refuses_our_settings_is_named(
    database: Database, postgres: Postgres
) -> None:
    sessions = partial(PgBouncer, postgres, "session", 10)
    with closing(obtain("PgBouncer", sessions)) as proxy:
        found = findings(proxy.url(database.name))["connection"]
    assert (found.state, found.found) == ("good", "through a proxy that pools whole sessions")
    strict = partial(PgBouncer, postgres, "session", 10, "extra_float_digits")
    with (
        closing(obtain("PgBouncer", strict)) as proxy,
        pytest.raises(NotDirect, match="refuses our session's settings"),
    ):
        findings(proxy.url(database.name))


def test_a_database_without_the_ledger_is_advised_to_migrate(own_postgres: Server) -> None:
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


def test_a_user_without_a_role_is_advised_which_it_needs(own_postgres: Server) -> None:
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


def test_newuser_25_the_owner_is_known_and_a_failed_check_does_not_end_the_others(
    own_postgres: Server,
) -> None:
    with connect_sync(own_postgres.url(), application_name="test") as connection:
        for role in ("admin", "operator", "worker", "submitter", "client", "reader"):
            connection.execute(f"create role switchyard_{role}".encode())
        connection.execute("create role plain login")
        connection.execute("create database theirs owner plain")
    url = psycopg.conninfo.make_conninfo(own_postgres.url("theirs"), user="plain")
    migrate.upgrade(url)
    with connect_sync(url, application_name="test") as connection:
        connection.execute("alter table switchyard.partition_span rename to hidden")
    found = findings(url)
    assert (found["privileges"].state, found["privileges"].found) == ("good", "owner of the schema")
    assert found["partitions"].found.startswith("could not be checked: relation")
    assert found["lost workers"].advice == "grant pg_signal_backend to plain"
    assert {"locks", "configuration", "served", "transactions"} < found.keys()


def test_newuser_25_names_that_no_conductor_serves_are_named(database: Database) -> None:
    assert findings(database.url)["served"].state == "good"
    database.execute("select switchyard.submit('teleport') from generate_series(1, 3)")
    found = findings(database.url)["served"]
    assert (found.state, found.found) == ("warning", "no conductor serves teleport (3 waiting)")


def test_a_standby_is_refused_before_it_is_asked_anything(own_postgres: Server, standby: Server) -> None:
    with pytest.raises(DatabaseUnavailable, match="read-only"):
        findings(standby.url())


def test_an_old_transaction_is_named(database: Database) -> None:
    """The view before the real one makes it two hours older: nobody waits so long."""
    with (
        database.connect(autocommit=False) as reader,
        connect_sync(database.url, application_name="test") as doctor,
    ):
        [[pid]] = reader.execute("select pg_backend_pid()").fetchall()
        doctor.row_factory = dict_row  # type: ignore[assignment]
        doctor.execute(
            "create temp view pg_stat_activity as select pid, usename, datname,"
            " xact_start - interval '2 hours' as xact_start from pg_catalog.pg_stat_activity where pid <> pg_backend_pid()"
        )
        doctor.execute("set search_path = pg_temp, pg_catalog")
        found = _old_transactions(doctor)  # type: ignore[arg-type]
    assert (found.check, found.state) == ("transactions", "warning")
    assert found.found.startswith(f"process {pid} (")
    assert "has one open for 120 minutes" in found.found


@pytest.mark.parametrize(("number", "state"), [(140022, "bad"), (190000, "warning")])
def test_a_version_that_is_not_tested_is_reported(number: int, state: str) -> None:
    row = {
        "number": number,
        "version": "x",
        "fsync": "on",
        "autovacuum": "on",
        "encoding": "UTF8",
        "synchronous_commit": "on",
    }
    [found] = _server(row)
    assert (found.state, found.advice) == (state, "use a version from 15 to 18")


def test_clocks_that_differ_are_reported() -> None:
    assert (_clock(1.9).state, _clock(-2.1).state) == ("good", "warning")
    assert _clock(-2.1).found == "-2.1 s from this machine's"


def test_a_schedule_whose_last_tick_is_in_the_future_is_reported(database: Database) -> None:
    assert findings(database.url)["schedules"].state == "good"
    database.execute(
        "insert into switchyard.schedule (name, action_name, every, last_at) values ('s', 'noop', 60, now() + interval '1 day')"
    )
    found = findings(database.url)["schedules"]
    assert found.state == "warning"
    assert "the last tick is in the future: s (" in found.found
