"""Migrations: up, down and up again give the same catalogue, and down leaves nothing."""

from itertools import pairwise

import pytest

from switchyard.ledger import migrate
from tests.parts.database import Template

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


def test_each_step_can_be_taken_back_by_itself(template: Template) -> None:
    with template.clone() as database:
        migrate.downgrade(database.url)
        steps = [revision for revision, _ in migrate.pending(database.url)]
        before: dict[str, object] = {}
        for revision in steps:
            migrate.upgrade(database.url, revision)
            before[revision] = database.execute(CATALOGUE)
        for below, above in reversed(list(pairwise(steps))):
            migrate.downgrade(database.url, below)
            assert database.execute(CATALOGUE) == before[below], f"{above} leaves something behind"


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
