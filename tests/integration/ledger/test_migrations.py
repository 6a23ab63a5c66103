"""Migrations: one transaction, repeatable, up, down and up again give the same catalogue, and down leaves nothing."""

import shutil
from pathlib import Path

import psycopg
import pytest

from switchyard.ledger import migrate
from tests.parts.database import Database, Template
from tests.parts.postgres import Server

pytestmark = pytest.mark.database

CATALOGUE = """
select 'column', table_name || '.' || column_name, concat_ws(' ', data_type, udt_name, column_default, is_nullable, generation_expression)
  from information_schema.columns where table_schema = 'switchyard'
union all select 'index', indexname, indexdef from pg_indexes where schemaname = 'switchyard'
union all select 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'switchyard'::regnamespace
union all select 'function', p.oid::regprocedure::text, pg_get_functiondef(p.oid)
  || (select string_agg(a::text, ' ' order by a::text) from unnest(coalesce(p.proacl, acldefault('f', p.proowner))) a) from pg_proc p where pronamespace = 'switchyard'::regnamespace
union all select 'trigger', tgrelid::regclass || '.' || tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
union all select 'view', viewname, definition from pg_views where schemaname = 'switchyard'
union all select 'grant', relname, (select string_agg(a::text, ' ' order by a::text)
  from unnest(coalesce(relacl, acldefault(case relkind when 'S' then 's' else 'r' end::"char", relowner))) a) from pg_class where relnamespace = 'switchyard'::regnamespace and relkind in ('r', 'p', 'v', 'S')
union all select 'comment', objoid::regclass || '.' || objsubid, description from pg_description where classoid = 'pg_class'::regclass
  and objoid in (select oid from pg_class where relnamespace = 'switchyard'::regnamespace)
order by 1, 2, 3"""


def test_up_down_up_gives_the_same_catalogue(template: Template) -> None:
    with template.clone() as database:
        before = database.execute(CATALOGUE)
        migrate.downgrade(database.url)
        left = "select count(*) from pg_namespace where nspname = 'switchyard'"
        assert database.execute(left) == [(0,)]
        assert migrate.current(database.url) is None
        migrate.upgrade(database.url)
        assert database.execute(CATALOGUE) == before
        assert len(before) > 300
        assert migrate.current(database.url) == migrate.newest()
        assert migrate.pending(database.url) == []


def test_each_numbered_step_can_be_taken_back_by_itself(template: Template) -> None:
    with template.clone() as database:
        before = database.execute(CATALOGUE)
        for revision in ("0002", "0001"):
            migrate.downgrade(database.url, revision)
            assert migrate.current(database.url) == revision
            migrate.upgrade(database.url)
            assert database.execute(CATALOGUE) == before, f"above {revision} something is left behind"


def test_newuser_13_a_migration_that_fails_leaves_nothing(
    own_postgres: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """newuser 13: 0001 to 0011 stayed although the page said "in one transaction"."""
    copy = tmp_path / "migrations"
    shutil.copytree(migrate.folder(), copy)
    (copy / "current" / "views.sql").write_text("select 1 / 0")
    monkeypatch.setattr(migrate, "folder", lambda: copy)
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate.upgrade(own_postgres.url())
    database = Database("postgres", own_postgres.url())
    left = "select 1 from pg_class where relname in ('migration', 'thread') union all select 1 from pg_namespace where nspname = 'switchyard'"
    assert database.execute(left) == []


def test_a_second_migrate_repairs_functions_views_and_grants(template: Template) -> None:
    with template.clone() as database:
        before = database.execute(CATALOGUE)
        database.execute(
            "create or replace function switchyard.uuid_lock(id uuid) returns bigint language sql immutable parallel safe strict as 'select 1::bigint'"
        )
        database.execute(
            "create or replace function switchyard.unlock(p_lock_ids bigint[]) returns integer language sql as 'select 1'"
        )
        database.execute("drop view switchyard.inbox")
        database.execute("drop trigger event_rolls_up on switchyard.event")
        database.execute(
            "revoke all on all tables in schema switchyard from switchyard_reader, switchyard_worker"
        )
        database.execute("revoke all on all functions in schema switchyard from switchyard_worker")
        migrate.upgrade(database.url)
        changed = [
            after[:2] for was, after in zip(before, database.execute(CATALOGUE), strict=True) if was != after
        ]
        assert changed == [
            ("function", "switchyard.uuid_lock(uuid)")
        ]  # of a numbered file: stored rows depend on it


def test_functions_of_another_version_are_pending_although_the_revision_is_the_newest(
    template: Template,
) -> None:
    with template.clone() as database:
        assert migrate.pending(database.url) == []
        database.execute("update switchyard.applied set definitions = 'of another version'")
        assert migrate.pending(database.url) == ["current"]
        migrate.upgrade(database.url)
        assert migrate.pending(database.url) == []


def test_migrating_again_does_not_wait_for_open_writers(template: Template) -> None:
    with template.clone() as database, database.connect(autocommit=False) as writer:
        writer.execute("select switchyard.submit('noop')")
        writer.execute(
            "insert into switchyard.event (action_uuid, status) select action_uuid, 'RUNNING' from switchyard.action"
        )
        migrate.upgrade(database.url)


def test_every_table_and_column_that_people_read_is_explained(template: Template) -> None:
    bare = """select c.relname from pg_class c where relnamespace = 'switchyard'::regnamespace and relkind in ('p', 'v', 'r')
      and not relispartition and obj_description(c.oid) is null"""
    mute = """select p.proname from pg_proc p where pronamespace = 'switchyard'::regnamespace and obj_description(p.oid) is null"""
    with template.clone() as database:
        assert database.execute(bare) == []
        assert database.execute(mute) == []


def test_taking_back_one_database_leaves_the_rights_in_another(template: Template) -> None:
    with template.clone() as gone, template.clone() as kept:
        migrate.downgrade(gone.url)
        with kept.connect() as connection:
            connection.execute("set role switchyard_worker")
            connection.execute("select switchyard.submit('noop', '{}')")


def test_steps_run_in_the_order_of_their_numbers() -> None:
    numbers = [step.revision for step in migrate._after(None)]
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]
