-- lock: one migration at a time; a second one waits and then finds nothing to do
select pg_advisory_xact_lock(1937204080, 1);

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
