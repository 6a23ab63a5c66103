-- Partitions: created in advance, dropped as a whole. There is no default partition: a row without a partition is an error at once.

-- The lock of a row that only the owner and administrators may lock: an advisory lock could be held by any user.
create or replace function switchyard.maintenance_lock() returns void
language plpgsql as $$
begin
  perform from switchyard.partitioning for update nowait;
exception when lock_not_available then
  raise exception 'another instance is making or dropping partitions' using errcode = 'lock_not_available';
end
$$;
comment on function switchyard.maintenance_lock is 'One instance at a time; never waits.';

-- ATTACH takes only SHARE UPDATE EXCLUSIVE on the parent, so writers continue meanwhile; CREATE … PARTITION OF would block them.
create or replace function switchyard.attach_partition(parent text, suffix text, starts_at timestamptz, ends_at timestamptz)
returns void language plpgsql as $$
declare
  child text := parent || '_' || suffix;
begin
  execute format('create table switchyard.%I (like switchyard.%I including all)', child, parent);
  if parent = 'thread' then
    -- Room on the page for every row once more: a batch updates all of a page in one transaction, so nothing of it can
    -- be pruned meanwhile. With 70, six of ten updates went to another page and into the index again.
    execute format('alter table switchyard.%I set (fillfactor = 45)', child);
  end if;
  execute format('alter table switchyard.%I attach partition switchyard.%I for values from (%L) to (%L)',
    parent, child, switchyard.uuid_floor(starts_at), switchyard.uuid_floor(ends_at));
end
$$;
comment on function switchyard.attach_partition is 'Makes one table''s partition for that stretch.';

-- From yesterday on, because ids are created by clocks that may be slightly slow, or just before midnight. Every gap is filled:
-- one in the middle may be left by a clock that was wrong for a while, and today's partition must not wait for it.
create or replace function switchyard.ensure_partitions(days_ahead integer default 7, partition_interval text default null)
returns setof switchyard.partition_span language plpgsql security definer
set search_path = switchyard, pg_temp set timezone = 'UTC' set lock_timeout = '100ms' as $$
declare
  step text;
  place timestamptz := date_trunc('day', now() - interval '1 day');
  span switchyard.partition_span;
begin
  if days_ahead is null or days_ahead < 0 or days_ahead > 3660 then
    raise exception 'days_ahead must be between 0 and 3660, not %', days_ahead using errcode = 'invalid_parameter_value';
  end if;
  perform switchyard.maintenance_lock();
  update switchyard.partitioning p set partition_interval = ensure_partitions.partition_interval
  where p.partition_interval <> ensure_partitions.partition_interval;
  select p.partition_interval into step from switchyard.partitioning p;
  while place <= now() + make_interval(days => days_ahead) loop
    select * into span from switchyard.partition_span p where p.starts_at <= place and p.ends_at > place;
    if not found then
      select greatest(date_trunc(step, place), max(p.ends_at)) into span.starts_at
      from switchyard.partition_span p where p.ends_at <= place;
      select least(date_trunc(step, span.starts_at) + ('1 ' || step)::interval, min(p.starts_at)) into span.ends_at
      from switchyard.partition_span p where p.starts_at > place;
      span.suffix := to_char(span.starts_at, 'YYYYMMDD');
      perform switchyard.attach_partition(parent, span.suffix, span.starts_at, span.ends_at)
      from unnest(array['action', 'thread', 'event']) as parent;
      insert into switchyard.partition_span values (span.*);
      return next span;
    end if;
    place := span.ends_at;
  end loop;
end
$$;
comment on function switchyard.ensure_partitions is 'Makes the partitions that are missing from yesterday to days_ahead from now; returns those it made.';

-- Under the thread partition's lock no thread can be opened, so the result of the check is still valid when it is dropped; at
-- repeatable read the check would see the state before the lock.
create or replace function switchyard.drop_partition(suffix text) returns text
language plpgsql security definer
set search_path = switchyard, pg_temp set lock_timeout = '100ms' as $$
declare
  span switchyard.partition_span;
  held bigint;
  open_threads bigint;
  due bigint;
  dependents text;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'drop_partition must run at read committed, not at %', current_setting('transaction_isolation')
      using errcode = 'invalid_transaction_state';
  end if;
  perform switchyard.maintenance_lock();
  select * into span from switchyard.partition_span p where p.suffix = drop_partition.suffix;
  if not found then
    raise exception 'there is no partition %', suffix using errcode = 'undefined_table';
  elsif span.ends_at > now() then
    return 'its time has not passed yet';
  end if;
  -- An action that was canceled in flight has ended, but its dispatch has not. Before the table is locked: this takes time.
  execute format('select count(*) from switchyard.%I t join pg_locks l on t.lock_id = (l.classid::bigint << 32 | l.objid::bigint)
    where l.locktype = ''advisory'' and l.objsubid = 1 and l.database = (select oid from pg_database where datname = current_database())',
    'thread_' || suffix) into held;
  if held > 0 then
    return format('%s threads are locked by a program', held);
  end if;
  execute format('lock table switchyard.%I in access exclusive mode', 'thread_' || suffix);
  select count(*) into open_threads from switchyard.yard y
  where y.action_uuid >= switchyard.uuid_floor(span.starts_at) and y.action_uuid < switchyard.uuid_floor(span.ends_at);
  -- The callbacks of an end have ids of the time of that end, so they need its partition, whenever the action began.
  select count(*) into due from switchyard.thread t
  where t.callbacks_due and (t.ended_at >= span.starts_at and t.ended_at < span.ends_at
    or t.action_uuid >= switchyard.uuid_floor(span.starts_at) and t.action_uuid < switchyard.uuid_floor(span.ends_at));
  if open_threads > 0 or due > 0 then
    return format('%s threads have not ended, %s have callbacks due', open_threads, due);
  end if;
  perform switchyard.remember_ends(suffix);
  execute format('drop table switchyard.%I, switchyard.%I, switchyard.%I',
    'event_' || suffix, 'thread_' || suffix, 'action_' || suffix);
  delete from switchyard.idempotency i
  where i.action_uuid >= switchyard.uuid_floor(span.starts_at) and i.action_uuid < switchyard.uuid_floor(span.ends_at);
  delete from switchyard.schedule_tick t where t.decided_at >= span.starts_at and t.decided_at < span.ends_at and t.outcome <> 'queued';
  delete from switchyard.presentation x
  where x.action_uuid >= switchyard.uuid_floor(span.starts_at) and x.action_uuid < switchyard.uuid_floor(span.ends_at);
  delete from switchyard.footprint x
  where x.action_uuid >= switchyard.uuid_floor(span.starts_at) and x.action_uuid < switchyard.uuid_floor(span.ends_at);
  perform switchyard.drop_sets(switchyard.uuid_floor(span.starts_at), switchyard.uuid_floor(span.ends_at));
  perform switchyard.drop_reuse(switchyard.uuid_floor(span.starts_at), switchyard.uuid_floor(span.ends_at));
  delete from switchyard.partition_span p where p.suffix = drop_partition.suffix;
  return null;
exception
  when lock_not_available then
    return 'in use, try again later';
  when dependent_objects_still_exist then -- a view, or a foreign key that somebody made; the other partitions go on
    get stacked diagnostics dependents = pg_exception_detail;
    return left(dependents, 500);
end
$$;
comment on function switchyard.drop_partition is 'Drops one stretch of time that has passed; null, or why it was left alone.';

create or replace function switchyard.drop_partitions(older_than timestamptz)
returns table (suffix text, dropped boolean, reason text) language plpgsql security definer
set search_path = switchyard, pg_temp as $$
begin
  if older_than is null or older_than > now() then
    raise exception 'older_than must be a time in the past, not %', older_than using errcode = 'invalid_parameter_value';
  end if;
  for suffix in select p.suffix from switchyard.partition_span p where p.ends_at <= older_than order by p.starts_at loop
    reason := switchyard.drop_partition(suffix);
    dropped := reason is null;
    return next;
  end loop;
end
$$;
comment on function switchyard.drop_partitions is 'Drops every partition that ended before that time, but those in which a thread has not ended: it names them.';

create or replace view switchyard.partitions as
select p.suffix, p.starts_at, p.ends_at,
  (select count(*) from switchyard.yard y
   where y.action_uuid >= switchyard.uuid_floor(p.starts_at) and y.action_uuid < switchyard.uuid_floor(p.ends_at)) as open_threads,
  (select sum(pg_total_relation_size(format('switchyard.%I', parent || '_' || p.suffix)))
   from unnest(array['action', 'thread', 'event']) as parent) as bytes
from switchyard.partition_span p;
comment on view switchyard.partitions is 'Each stretch of time, how many of its threads are open, and its size on disk.';

do $$
begin
  -- A new ledger can be used at once; from then on conductors make the partitions.
  if not exists (select from pg_inherits where inhparent = 'switchyard.action'::regclass) then
    perform switchyard.ensure_partitions(7);
  end if;
end
$$;
