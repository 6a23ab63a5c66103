"""The Postgres fixtures do to a server what their names say."""

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.parts.database import Database
from tests.parts.postgres import Existing, Postgres, Server, binaries
from tests.waiting import until


def _on(server: Postgres) -> Database:
    return Database("postgres", server.url())


@pytest.mark.database
def test_the_shared_server_answers(postgres: Postgres) -> None:
    assert _on(postgres).execute("select 1") == [(1,)]


@pytest.mark.parametrize("blow", [Server.crash, Server.behead])
def test_what_was_committed_survives_a_crash(own_postgres: Server, blow: Callable[[Server], None]) -> None:
    with _on(own_postgres).connect() as connection:
        connection.execute("create table kept as select 42 as answer")
        blow(own_postgres)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("select 1")
    assert _on(own_postgres).execute("select answer from kept") == [(42,)]
    assert "not properly shut down" in own_postgres.process.log.read_text()


def test_a_stopped_server_refuses_connections_and_restarts_on_the_same_port(own_postgres: Server) -> None:
    own_postgres.stop()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(own_postgres.url())
    own_postgres.start()
    assert _on(own_postgres).execute("show fsync") == [("on",)]


def test_the_standby_follows_and_can_be_promoted(own_postgres: Server, standby: Server) -> None:
    _on(own_postgres).execute("create table followed ()")
    until(lambda: _on(standby).execute("select 1 where to_regclass('followed') is not null"))
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        _on(standby).execute("create table refused ()")
    own_postgres.kill()
    standby.promote()
    assert _on(standby).execute("select pg_is_in_recovery()") == [(False,)]


def test_binaries_that_only_root_may_reach_are_copied(tmp_path: Path) -> None:
    package = binaries("embedded").parents[1]
    for part in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(part, tmp_path / part.name, symlinks=True)  # pytest's folders are 0700
    with closing(Server(tmp_path / package.name / "pginstall" / "bin", {})) as server:
        server.start()
        assert _on(server).execute("select 1") == [(1,)]


def test_an_existing_server_keeps_its_address_and_options() -> None:
    server = Existing("postgresql://me:secret@db.test:6432/postgres?sslmode=require")
    assert server.url("other") == "postgresql://me:secret@db.test:6432/other?sslmode=require"
