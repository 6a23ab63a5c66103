"""A migration of a ledger in use: nobody waits for it, and it waits for nobody for long."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from switchyard.ledger import definitions, migrate
from tests.deployment.bystanders import SETTINGS, bystanders
from tests.deployment.next_release import next_release
from tests.parts.database import Database
from tests.parts.postgres import UNSAFE, Server, binaries
from tests.waiting import until

pytestmark = pytest.mark.database

VIEWS = "select count(*) from pg_views where schemaname = 'switchyard'"
DEFINITION = "select pg_get_viewdef('switchyard.queue'::regclass)"
CHANGE = "create or replace view switchyard.queue as {} limit 5"
WAITS = "select true from pg_locks where not granted and mode = 'AccessExclusiveLock'"


@contextmanager
def migrating(url: str) -> Iterator[threading.Thread]:
    thread = threading.Thread(target=migrate.upgrade, args=(url,))
    thread.start()
    try:
        yield thread
    finally:
        thread.join(60)
        assert not thread.is_alive()


def test_every_view_is_compared_by_itself(database: Database) -> None:
    folder = migrate.folder() / "current"
    found = [
        view for file in definitions.files(folder) for _, view in definitions._statements(file.read_text())
    ]
    assert len([view for view in found if view]) == database.execute(VIEWS)[0][0]


def test_migrating_again_locks_no_view(database: Database) -> None:
    with database.connect(autocommit=False) as reader:
        reader.execute("select * from switchyard.inbox, switchyard.queue, switchyard.fleet").fetchall()
        migrate.upgrade(database.url)  # would wait for this reader's transaction


def test_a_changed_view_is_replaced(database: Database) -> None:
    [[before]] = database.execute(DEFINITION)
    with database.connect() as connection:
        connection.execute(CHANGE.format(before.rstrip(";")).encode())
    assert database.execute(DEFINITION) != [(before,)]
    migrate.upgrade(database.url)
    assert database.execute(DEFINITION) == [(before,)]


def test_no_statement_waits_behind_a_waiting_migration(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "_PAUSE", 0.2)
    [[before]] = database.execute(DEFINITION)
    with database.connect() as connection:
        connection.execute(CHANGE.format(before.rstrip(";")).encode())
    with database.connect(autocommit=False) as holder:
        holder.execute("select * from switchyard.queue").fetchall()
        with migrating(database.url):
            until(lambda: database.execute(WAITS))
            database.execute(
                "select * from switchyard.queue"
            )  # comes after it, and does not wait for the holder
            holder.rollback()
    assert database.execute(DEFINITION) == [(before,)]


OUTER_FIRST = """select true from pg_locks o, pg_locks i
  where o.relation = 'switchyard.job'::regclass and o.mode = 'AccessExclusiveLock' and o.granted
    and i.relation = 'switchyard.visible_action'::regclass and i.mode = 'AccessExclusiveLock' and not i.granted"""


def test_a_reader_of_a_view_of_views_and_a_migration_do_not_wait_for_each_other(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader locks a view, then what it reads; a migration that began with the inner view starved beside it."""
    monkeypatch.setattr(migrate, "_PAUSE", 0.2)
    with database.connect() as connection:
        for view in ("visible_action", "job"):
            connection.execute(f"alter view switchyard.{view} set (security_barrier)".encode())
    with database.connect(autocommit=False) as holder:
        holder.execute("select count(*) from switchyard.visible_action")
        with migrating(database.url):
            until(lambda: database.execute(OUTER_FIRST))
            holder.rollback()
    assert database.execute("select reloptions from pg_class where oid = 'switchyard.job'::regclass") == [
        (None,)
    ]


# As the migration itself sees it: each command on a table, view or function, in which transaction.
RECORD = """
create table public.ddl (number integer generated always as identity, transaction text, tag text, object text);
create function public.record_ddl() returns event_trigger language plpgsql as $$
begin
  insert into public.ddl (transaction, tag, object)
  select txid_current()::text, c.command_tag, c.object_identity from pg_event_trigger_ddl_commands() c
  where c.command_tag in ('ALTER TABLE', 'ALTER VIEW', 'CREATE VIEW', 'CREATE FUNCTION', 'GRANT');
end
$$;
create event trigger record_ddl on ddl_command_end execute function public.record_ddl();
"""
RECORDED = "select transaction, tag, object from public.ddl where object !~ 'migrate_candidate$' or object is null order by number"


def test_views_are_replaced_last_and_tables_in_transactions_of_their_own(
    database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with database.connect() as connection:
        connection.execute(RECORD)
    folder = next_release(tmp_path)
    monkeypatch.setattr(migrate, "folder", lambda: folder)
    migrate.upgrade(database.url)
    recorded = database.execute(RECORDED)
    tables = {transaction for transaction, tag, _ in recorded if tag == "ALTER TABLE"}
    functions = {transaction for transaction, tag, _ in recorded if tag == "CREATE FUNCTION"}
    assert len(tables) == len(functions) == 1
    assert not tables & functions
    tags = [tag for _, tag, _ in recorded]
    locked = tags.index("ALTER VIEW")
    assert {*tags[:locked]} == {"ALTER TABLE", "CREATE FUNCTION", "GRANT"}
    assert {*tags[locked:]} == {"ALTER VIEW", "CREATE VIEW"}
    assert len({view for _, tag, view in recorded if tag == "CREATE VIEW"}) == database.execute(VIEWS)[0][0]
    assert database.execute("select switchyard.test_waiting()") == [(None,)]


def test_a_view_is_replaced_with_the_one_that_it_reads(
    database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`queue_shown` has all columns of `queue`, so it differs only after `queue` was replaced."""
    folder = next_release(tmp_path)
    monkeypatch.setattr(migrate, "folder", lambda: folder)
    migrate.upgrade(database.url)
    assert database.execute("select test_one from switchyard.queue_shown") == []
    with database.connect(autocommit=False) as reader:
        reader.execute("select * from switchyard.queue_shown")
        migrate.upgrade(database.url)  # differs no longer, so it waits for no reader


def test_what_a_failure_left_out_the_next_migration_does(
    database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = next_release(tmp_path)
    monkeypatch.setattr(migrate, "folder", lambda: folder)
    why = folder / "current" / "why.sql"
    correct = why.read_text()
    why.write_text("select 1 / 0")
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate.upgrade(database.url)
    assert migrate.current(database.url) == migrate.newest()
    assert migrate.pending(database.url) == ["current"]
    database.execute("select switchyard.submit('hook')")  # the functions of before, on the tables of after
    assert database.execute("select cardinality(uuids) from switchyard.claim('hook', 1)") == [(1,)]
    why.write_text(correct)
    migrate.upgrade(database.url)
    assert migrate.pending(database.url) == []


def test_two_that_migrate_at_once_do_it_once(
    database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = next_release(tmp_path)
    monkeypatch.setattr(migrate, "folder", lambda: folder)
    with migrating(database.url), migrating(database.url):
        pass
    assert migrate.pending(database.url) == []


@pytest.fixture
def logging_waits(pytestconfig: pytest.Config) -> Iterator[Server]:
    """A server that logs every wait for a lock."""
    kind = pytestconfig.getoption("--postgres")
    with closing(Server(binaries(kind if kind.isdigit() else "embedded"), {**UNSAFE, **SETTINGS})) as server:
        server.start()
        yield server


def test_no_statement_waits_longer_than_documented_for_a_migration(
    logging_waits: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Promised are 100 ms; five times that, for a machine that does more than this."""
    url = logging_waits.url()
    migrate.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("select switchyard.submit('hook') from generate_series(1, 5000)")
        connection.execute("analyze")
    folder = next_release(tmp_path)
    with bystanders(url, logging_waits.process.log) as both:
        until(lambda: both.reads > 20 and both.writes > 20)
        with monkeypatch.context() as context:
            context.setattr(migrate, "folder", lambda: folder)
            migrate.upgrade(url)
        done = both.reads, both.writes
        until(lambda: both.reads > done[0] + 20 and both.writes > done[1] + 20)
    assert both.errors == []
    assert max(both.waits().values(), default=0.0) <= 500, both.waits()
