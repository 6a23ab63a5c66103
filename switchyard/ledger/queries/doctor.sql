-- server: what it is and how it is set
select current_setting('server_version') as version, current_setting('server_version_num')::integer as number,
  current_setting('max_connections')::integer as connections,
  current_setting('max_locks_per_transaction')::integer as locks_per_transaction,
  (select reset_val from pg_settings where name = 'synchronous_commit') as synchronous_commit, current_setting('fsync') as fsync,
  current_setting('autovacuum') as autovacuum, current_setting('server_encoding') as encoding,
  extract(epoch from clock_timestamp())::double precision as clock;

-- roles: which of the four this user has
select r.role, pg_has_role(current_user, r.role, 'member') as member
from unnest(array['switchyard_admin', 'switchyard_worker', 'switchyard_submitter', 'switchyard_reader']) as r (role)
where exists (select from pg_roles where rolname = r.role);

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
