"""A migration of a ledger in use: nobody waits for it, and it waits for nobody for long."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from switchyard.ledger import definitions, migrate
from tests.parts.database import Database
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


def test_a_view_that_somebody_changed_is_replaced(database: Database) -> None:
    [[before]] = database.execute(DEFINITION)
    with database.connect() as connection:
        connection.execute(CHANGE.format(before.rstrip(";")).encode())
    assert database.execute(DEFINITION) != [(before,)]
    migrate.upgrade(database.url)
    assert database.execute(DEFINITION) == [(before,)]


def test_nobody_waits_behind_a_migration_that_waits(
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
