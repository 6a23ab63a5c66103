"""`switchyard migrate` as a plain owner: the script for the administrator, what doctor says, and the schema as SQL."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from switchyard.cli import main
from switchyard.ledger import migrate
from switchyard.ledger.doctor import examine
from tests.integration.ledger.test_migrate_as_owner import ROLES, admin, owned, takes_every_role
from tests.parts.postgres import Server

pytestmark = pytest.mark.database


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """Runs the command with a URL; its exit code."""

    def command(url: str, *argv: str) -> int:
        file = tmp_path / "switchyard.yaml"
        file.write_text("database: {url: env:DATABASE_URL}\n")
        monkeypatch.setenv("DATABASE_URL", url)
        monkeypatch.setattr("sys.argv", ["switchyard", "migrate", "-c", str(file), *argv])
        with pytest.raises(SystemExit) as raised:
            main()
        return int(raised.value.code or 0)

    return command


def doctor(url: str) -> dict[str, tuple[str, str]]:
    with psycopg.connect(url, autocommit=True, row_factory=psycopg.rows.dict_row) as connection:
        return {each.check: (each.state, each.found) for each in examine(connection, url)}


def catalogue(url: str) -> list[tuple[object, ...]]:
    """Every table, column, index, constraint, function, view, trigger and grant of the schema."""
    with psycopg.connect(url) as connection:
        return connection.execute(
            """
            select 'column', attrelid::regclass::text, attname::text, format_type(atttypid, atttypmod), attacl::text
            from pg_attribute join pg_class c on c.oid = attrelid
            where c.relnamespace = 'switchyard'::regnamespace and attnum > 0 and c.relname !~ '_p?[0-9]{4}'
            union all select 'relation', relname::text, relkind::text, pg_get_viewdef(oid), relacl::text from pg_class
            where relnamespace = 'switchyard'::regnamespace and relkind in ('v', 'r', 'p', 'S') and relname !~ '_p?[0-9]{4}'
            union all select 'function', proname::text, pg_get_functiondef(oid), null, proacl::text from pg_proc
            where pronamespace = 'switchyard'::regnamespace and prokind = 'f'
            union all select 'trigger', tgname::text, tgrelid::regclass::text, null, null from pg_trigger
            where not tgisinternal and tgrelid::regclass::text !~ '_p?[0-9]{4}'
            union all select 'revision', version_num, null, null, null from public.migration
            order by 1, 2, 3, 4, 5
            """
        ).fetchall()


def test_a_plain_owner_gets_the_script_and_it_is_enough(
    own_postgres: Server, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    url = owned(own_postgres, "one", "plain")
    assert run(url) == 1
    printed = capsys.readouterr()
    assert "plain may not: create the roles switchyard_admin" in printed.err
    assert doctor(url)["rights"][0] == "bad"
    with psycopg.connect(own_postgres.url("one"), autocommit=True) as administrator:
        administrator.execute(printed.out.encode())
    assert doctor(url)["rights"] == ("good", "plain may run `switchyard migrate`")
    assert run(url) == 0
    assert "rights" not in doctor(url)
    assert doctor(url)["lost workers"][0] == "good"
    takes_every_role(url)
    admin(own_postgres, "create role {} login", "program")
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("grant switchyard_worker to program")  # nobody else is needed for a program's user


def test_a_user_who_does_not_own_the_database_gets_the_rights_for_it(
    own_postgres: Server, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """Names that need quotes included."""
    admin(own_postgres, "create role {} login", "Odd user")
    admin(own_postgres, "create database {}", "Odd base")
    url = psycopg.conninfo.make_conninfo(own_postgres.url(), dbname="Odd base", user="Odd user")
    assert run(url) == 1
    script = capsys.readouterr().out
    assert 'grant create on database "Odd base" to "Odd user";' in script
    with psycopg.connect(own_postgres.url(), dbname="Odd base", autocommit=True) as administrator:
        administrator.execute(script.encode())
    assert run(url) == 0


def test_the_schema_as_sql_is_what_migrate_makes(
    own_postgres: Server, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    for role in ROLES:
        admin(own_postgres, "create role {}", role)
    ours, theirs = owned(own_postgres, "ours", "owner_a"), owned(own_postgres, "theirs", "owner_b")
    migrate.upgrade(ours)
    assert run(theirs, "--sql") == 0
    script = capsys.readouterr().out
    with psycopg.connect(theirs, autocommit=True) as connection:
        connection.execute(script.encode())
    assert migrate.pending(theirs) == []
    made = [tuple(str(value).replace("owner_b", "owner_a") for value in row) for row in catalogue(theirs)]
    assert made == [tuple(str(value) for value in row) for row in catalogue(ours)]


def test_the_sql_of_an_upgrade_begins_where_the_database_is(own_postgres: Server) -> None:
    url = own_postgres.url()
    migrate.upgrade(url)
    migrate.downgrade(url, "0003")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(migrate.script("0003").encode())
    assert migrate.pending(url) == []
    assert migrate.current(url) == migrate.newest()
