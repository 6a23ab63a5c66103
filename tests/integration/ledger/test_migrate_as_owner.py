"""Migrating as a plain owner of the database, with roles that exist, are missing, or were lost by a restore."""

from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from switchyard.ledger import migrate
from tests.parts.postgres import Server

pytestmark = pytest.mark.database

ROLES = (
    "switchyard_admin", "switchyard_operator", "switchyard_worker", "switchyard_submitter", "switchyard_client",
    "switchyard_reader",
)  # fmt: skip


def admin(server: Server, statement: LiteralString, *names: str) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def owned(server: Server, database: str, owner: str) -> str:
    """The URL of a new database, for its owner."""
    admin(server, "create role {} login", owner)
    admin(server, "create database {} owner {}", database, owner)
    return psycopg.conninfo.make_conninfo(server.url(database), user=owner)


def takes_every_role(url: str) -> None:
    """As signalbox does, whatever its caller may do."""
    with psycopg.connect(url, autocommit=True) as connection:
        for role in ROLES:
            connection.execute("select set_config('role', %s, false)", (role,))
            connection.execute("reset role")


def test_hole_34_a_missing_createrole_is_reported_to_a_plain_owner(own_postgres: Server) -> None:
    url = owned(own_postgres, "one", "plain")
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as raised:
        migrate.upgrade(url)
    assert "CREATEROLE" in (raised.value.diag.message_hint or "")
    assert "create role switchyard_worker" in (raised.value.diag.message_hint or "")


def test_hole_34_roles_that_somebody_made_beforehand_are_enough(own_postgres: Server) -> None:
    url = owned(own_postgres, "one", "plain")
    for role in ROLES:
        admin(own_postgres, "create role {}", role)
    migrate.upgrade(url)
    migrate.upgrade(url)
    _a_worker_can_submit_and_claim(own_postgres, "one")


def test_hole_34_a_second_database_of_another_owner_shares_the_roles(own_postgres: Server) -> None:
    for number, owner in enumerate(("maker", "other")):
        url = owned(own_postgres, f"base{number}", owner)
        admin(own_postgres, "alter role {} createrole", owner)
        migrate.upgrade(url)
        _a_worker_can_submit_and_claim(own_postgres, f"base{number}")
        if owner == "maker":  # from 16 on, the other may not grant roles that it did not make
            takes_every_role(url)


def test_hole_38_newuser_21_migrate_repairs_the_grants_after_a_restore_without_roles(
    own_postgres: Server,
) -> None:
    url = own_postgres.url()
    migrate.upgrade(url)
    for role in ROLES:
        admin(own_postgres, "drop owned by {}", role)
        admin(own_postgres, "drop role {}", role)
    migrate.upgrade(url)
    _a_worker_can_submit_and_claim(own_postgres, "postgres")


@pytest.mark.parametrize("may_signal", [True, False])
def test_hole_13_a_stopped_worker_is_ended_or_the_inbox_states_what_is_missing(
    own_postgres: Server, may_signal: bool
) -> None:
    """The owner may signal, and see nothing of other users' sessions."""
    url = owned(own_postgres, "one", "maker")
    admin(own_postgres, "alter role {} createrole", "maker")
    if may_signal:
        admin(own_postgres, "grant pg_signal_backend to {}", "maker")
    migrate.upgrade(url)
    admin(own_postgres, "create role {} login", "program")
    admin(own_postgres, "grant switchyard_worker to {}", "program")
    program = psycopg.conninfo.make_conninfo(url, user="program")
    with (
        psycopg.connect(program, autocommit=True) as stopped,
        psycopg.connect(program, autocommit=True) as other,
    ):
        stopped.execute("select switchyard.register_worker('conductor', 'hook', 'h', null, 1, 'v', 'c', 10)")
        lost = other.execute(
            "select terminated from switchyard.mark_lost(array(select worker_id from switchyard.worker),"
            " array(select beat_at from switchyard.worker))"
        ).fetchall()
        # A login may end sessions of its own, but here the owner does it, who is another.
        assert lost == [(may_signal,)]
        [(reason,)] = other.execute("select error from switchyard.inbox").fetchall()
        assert ("grant pg_signal_backend to maker" in reason) != may_signal


def _a_worker_can_submit_and_claim(server: Server, database: str) -> None:
    with psycopg.connect(server.url(database), autocommit=True) as connection:
        connection.execute("set role switchyard_worker")
        connection.execute("select switchyard.submit('noop')")
        assert connection.execute(
            "select cardinality(uuids) from switchyard.claim('noop', 5)"
        ).fetchall() == [(1,)]
