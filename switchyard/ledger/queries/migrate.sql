-- lock: one migration at a time; a second one waits and then finds nothing to do
select pg_advisory_xact_lock(1937204080, 1);

-- patience: wait for no lock for long; what waits for a table or a view shuts out everybody who comes after
set local lock_timeout = '100ms';

-- lock_views: shut out readers of all views, a view before those that it reads: in the order in which a reader locks them
do $$
declare
  chosen record;
begin
  for chosen in
    with recursive reads (view, other) as (
      select distinct w.ev_class, d.refobjid from pg_depend d join pg_rewrite w on w.oid = d.objid join pg_class c on c.oid = d.refobjid
      where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass and c.relkind = 'v'
        and c.relnamespace = 'switchyard'::regnamespace and w.ev_class <> d.refobjid
    ), depth (view, steps) as (
      select c.oid, 0 from pg_class c where c.relkind = 'v' and c.relnamespace = 'switchyard'::regnamespace
      union all
      select r.other, d.steps + 1 from depth d join reads r using (view)
    )
    select d.view::regclass as view, pg_get_userbyid(c.relowner) as owner from depth d join pg_class c on c.oid = d.view
    group by d.view, c.relowner order by max(d.steps), d.view
  loop
    -- Changes nothing. LOCK TABLE would lock the tables behind the view too.
    execute format('alter view %s owner to %I', chosen.view, chosen.owner);
  end loop;
end
$$;

-- view_exists: a row where there is a view of that name
select true from pg_class where oid = to_regclass(%(view)s) and relkind = 'v';

-- view_differs: whether the view is another one than the candidate
select (pg_get_viewdef(v.oid), v.reloptions) is distinct from (pg_get_viewdef(c.oid), c.reloptions)
from pg_class v, pg_class c where v.oid = to_regclass(%(view)s) and c.oid = 'switchyard.migrate_candidate'::regclass;

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
