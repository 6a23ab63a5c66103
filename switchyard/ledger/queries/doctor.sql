-- server: what it is and how it is set
select current_setting('server_version') as version, current_setting('server_version_num')::integer as number,
  current_setting('max_connections')::integer as connections,
  current_setting('max_locks_per_transaction')::integer as locks_per_transaction,
  (select reset_val from pg_settings where name = 'synchronous_commit') as synchronous_commit, current_setting('fsync') as fsync,
  current_setting('autovacuum') as autovacuum, current_setting('server_encoding') as encoding,
  extract(epoch from clock_timestamp())::double precision as clock;

-- ledger: whether there is one
select exists (select from pg_namespace where nspname = 'switchyard') as there;

-- roles: which of the six this user has, and whether it owns the schema
select r.role, pg_has_role(current_user, r.role, 'member') as member
from unnest(array['switchyard_admin', 'switchyard_operator', 'switchyard_worker', 'switchyard_submitter', 'switchyard_client',
  'switchyard_reader']) as r (role)
where exists (select from pg_roles where rolname = r.role)
union all
select 'owner of the schema', true from pg_namespace n
where n.nspname = 'switchyard' and pg_has_role(current_user, n.nspowner, 'member');

-- unserved: action names that actions wait under and no conductor serves
select action_name, waiting from switchyard.unserved order by waiting desc, action_name limit 10;

-- schedules: those whose last tick is still to come by the server's clock
select name, last_at from switchyard.schedule where last_at > now() + interval '1 minute' order by name limit 10;

-- signals: whether the owner of the schema, as whom mark_lost runs, may end connections
select pg_get_userbyid(n.nspowner) as owner, pg_has_role(n.nspowner, 'pg_signal_backend', 'member') as may
from pg_namespace n where n.nspname = 'switchyard';

-- partitions: how many days the partitions last, and whether now has one
select coalesce(extract(epoch from max(ends_at) - now()) / 86400, -1)::double precision as days,
  coalesce(bool_or(starts_at <= now() and now() < ends_at), false) as now_covered
from switchyard.partition_span;

-- workers: locks that the running ones may hold together, and how many configurations they have
select coalesce(sum(slots), 0)::integer as slots, count(distinct config_hash)::integer as configurations
from switchyard.worker where ended_at is null and lost_at is null;

-- readers: transactions that have been open so long that vacuum cannot clean up behind them
select pid, usename, extract(epoch from now() - xact_start)::double precision as seconds
from pg_stat_activity where xact_start < now() - interval '10 minutes' and datname = current_database()
order by xact_start limit 5;
