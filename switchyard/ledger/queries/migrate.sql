-- lock: one migration at a time; a second one waits and then finds nothing to do
select pg_advisory_xact_lock(1937204080, 1);

-- patience: how long this transaction waits for a lock; what waits for a table or a view shuts out everybody who comes after
select set_config('lock_timeout', %(within)s, true);

-- lock_order: these views and their owners, a view before those that it reads: in the order in which a reader locks them
with recursive reads (view, other) as (
  select distinct w.ev_class, d.refobjid from pg_depend d join pg_rewrite w on w.oid = d.objid join pg_class c on c.oid = d.refobjid
  where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass and c.relkind = 'v'
    and c.relnamespace = 'switchyard'::regnamespace and w.ev_class <> d.refobjid
), depth (view, steps) as (
  select c.oid, 0 from pg_class c where c.relkind = 'v' and c.relnamespace = 'switchyard'::regnamespace
  union all
  select r.other, d.steps + 1 from depth d join reads r using (view)
)
select d.view::regclass::text as view, pg_get_userbyid(c.relowner) as owner from depth d join pg_class c on c.oid = d.view
where d.view = any(%(views)s::text[]::regclass[])
group by d.view, c.relowner order by max(d.steps), d.view;

-- unchecked: do not check the bodies of functions when they are created
set local check_function_bodies = off;

-- view_exists: a row where there is a view of that name
select true from pg_class where oid = to_regclass(%(view)s) and relkind = 'v';

-- view_differs: whether the view is another one than the candidate
select (pg_get_viewdef(v.oid), v.reloptions) is distinct from (pg_get_viewdef(c.oid), c.reloptions)
from pg_class v, pg_class c where v.oid = to_regclass(%(view)s) and c.oid = 'switchyard.migrate_candidate'::regclass;

-- view_reads: whether the view reads one of the others
select exists (
  select from pg_rewrite w join pg_depend d on d.objid = w.oid and d.classid = 'pg_rewrite'::regclass
  where w.ev_class = to_regclass(%(view)s) and d.refobjid = any(%(others)s::text[]::regclass[])
);

-- drop_candidate: it was only compared
drop view switchyard.migrate_candidate;

-- applied: which functions, views and grants the database has
select definitions from switchyard.applied;

-- apply: remember which it has now
insert into switchyard.applied (definitions) values (%(definitions)s)
on conflict (only_one) do update set definitions = excluded.definitions;

-- rights: what the user that migrates may not do, of what is still to be done
select current_user as username, current_database() as database,
  case when (select rolcreaterole or rolsuper from pg_roles where rolname = current_user) then '{}'::text[] else array(
    select r.role from unnest(array['switchyard_admin', 'switchyard_operator', 'switchyard_worker', 'switchyard_submitter',
      'switchyard_client', 'switchyard_reader']) as r (role)
    where not exists (select from pg_roles where rolname = r.role) order by r.role) end as roles,
  exists (select from pg_namespace where nspname = 'switchyard') or has_database_privilege(current_database(), 'create') as may_create_schema,
  to_regclass('public.migration') is not null or has_schema_privilege('public', 'create') as may_create_table,
  pg_has_role(current_user, 'pg_signal_backend', 'member') as may_signal;

-- revisions: the table in which Alembic remembers how far a database is, as Alembic makes it
create table public.migration (version_num varchar(32) not null, constraint migration_pkc primary key (version_num));
insert into public.migration values ('');

-- stamp: a numbered file was run
update public.migration set version_num = %(revision)s;
