-- The workers of all programs, and the token buckets that they share.

-- A worker's session holds this lock in shared mode while it lives. So pg_locks, which every user can read, shows the
-- backend that holds the worker's claims, in this database only. A process id would not do: it can be reused, and only
-- some users may see whose backend it is.
create or replace function switchyard.worker_key(p_worker uuid) returns integer
language sql immutable parallel safe strict as $$ select hashtext(p_worker::text) $$;
comment on function switchyard.worker_key is 'The second key of the lock (1937204082, key) that a worker''s session holds.';

create or replace function switchyard.worker_sessions() returns table (key integer, pid integer)
language sql stable as $$
  select l.objid::bigint::bit(32)::integer, l.pid from pg_locks l join pg_database d on d.oid = l.database
  where d.datname = current_database() and l.locktype = 'advisory' and l.objsubid = 2 and l.granted and l.classid = 1937204082
$$;
comment on function switchyard.worker_sessions is 'The sessions of workers that live, by worker_key.';

create or replace function switchyard.backends_of(w switchyard.worker) returns setof integer
language sql stable as $$
  select s.pid from switchyard.worker_sessions() as s where s.key = switchyard.worker_key(w.worker_id)
  union
  -- A worker with several connections names them after itself, its kind and id first.
  select a.pid from pg_stat_activity a
  where a.datname = current_database() and starts_with(a.application_name, format('%s %s ', w.kind, w.worker_id))
$$;
comment on function switchyard.backends_of is 'The connections of a worker to this database.';

-- The caller decides which workers are silent, by its own clock: the server's may have been set, or the server may have
-- been unavailable. A worker with a heartbeat since then is left alone.
create or replace function switchyard.mark_lost(p_workers uuid[], p_beats timestamptz[])
returns table (worker_id uuid, kind text, action_name text, host text, beat_at timestamptz, terminated boolean)
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  w switchyard.worker;
  trouble text;
begin
  for w in
    select x.* from switchyard.worker x
    join unnest(p_workers, p_beats) as s (worker_id, beat_at) on s.worker_id = x.worker_id and s.beat_at = x.beat_at
    where x.ended_at is null and x.lost_at is null
    order by x.worker_id for update of x skip locked
  loop
    update switchyard.worker x set lost_at = clock_timestamp() where x.worker_id = w.worker_id;
    trouble := '';
    begin
      -- A stopped process keeps its connections, and so its claims, alive.
      terminated := coalesce((
        select bool_or(pg_terminate_backend(b.pid)) from switchyard.backends_of(w) as b (pid) where b.pid <> pg_backend_pid()), false);
    exception when insufficient_privilege then
      terminated := false;
      trouble := format('; its connection could not be ended, and keeps what it has claimed: grant pg_signal_backend to %s', current_user);
    end;
    insert into switchyard.journal (kind, subject, reason, detail, needs_review)
    values ('lost_worker', w.worker_id::text,
      format('%s worker %s on %s (%s) has sent no heartbeat since %s%s', w.kind, w.worker_id, w.host, coalesce(w.action_name, 'no action name'), w.beat_at, trouble),
      jsonb_build_object('action_name', w.action_name, 'host', w.host, 'pid', w.pid, 'terminated', terminated), true);
    worker_id := w.worker_id; kind := w.kind; action_name := w.action_name; host := w.host; beat_at := w.beat_at;
    return next;
  end loop;
end
$$;
comment on function switchyard.mark_lost is 'Marks workers without a heartbeat since those times as lost, ends their connections, and returns them.';

-- One row lock makes it exact across instances. The time is the server's; if its clock was set back, a refill time in
-- the future counts as now, so the bucket recovers at once and no token is given twice.
create or replace function switchyard.take_tokens(p_action_name text, p_rate double precision, p_burst double precision, p_wanted integer)
returns table (taken integer, wait_seconds double precision)
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  available double precision;
begin
  insert into switchyard.bucket as b values (p_action_name, p_burst, clock_timestamp()) on conflict do nothing;
  select least(p_burst, b.tokens + greatest(0, extract(epoch from clock_timestamp() - b.refilled_at)) * p_rate) into available
  from switchyard.bucket b where b.action_name = p_action_name for update;
  taken := least(p_wanted, floor(available + 1e-9))::integer;
  update switchyard.bucket b set tokens = greatest(0, available - taken), refilled_at = clock_timestamp()
  where b.action_name = p_action_name;
  wait_seconds := case when taken > 0 then 0 else (1 - available) / p_rate end;
  return next;
end
$$;
comment on function switchyard.take_tokens is 'Takes up to that many tokens of the shared bucket; with none, how long until there is one.';

create or replace function switchyard.give_tokens(p_action_name text, p_burst double precision, p_tokens integer) returns void
language sql security definer set search_path = switchyard, pg_temp as $$
  update switchyard.bucket b set tokens = least(p_burst, b.tokens + p_tokens) where b.action_name = p_action_name
$$;
comment on function switchyard.give_tokens is 'Puts back tokens that a claim found no work for.';

-- Functions for conductors only: registering a worker, the names with waiting actions, and when to pause a name.

-- All connections share one table of advisory locks; when it is full, no new locks are possible. So the slots of all
-- workers together stay under a quarter of it. Workers register one at a time, or two could take the same last slots; the lock
-- for this is on a row that only the owner may lock. A worker whose session has ended holds no locks: its slots are free, even
-- if its row is not closed.
create or replace function switchyard.register_worker(
  p_kind text, p_action_name text, p_host text, p_zone text, p_pid integer, p_version text, p_config_hash text, p_slots integer
) returns table (worker_id uuid, slots integer)
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  living integer[];
  room bigint := current_setting('max_locks_per_transaction')::bigint
    * (current_setting('max_connections')::bigint + current_setting('max_prepared_transactions')::bigint) / 4;
begin
  perform from switchyard.applied for update;
  living := array(select s.key from switchyard.worker_sessions() as s);
  worker_id := gen_random_uuid();
  perform pg_advisory_lock_shared(1937204082, switchyard.worker_key(worker_id));
  insert into switchyard.worker as w (worker_id, kind, action_name, host, zone, pid, version, config_hash, backend_pid, slots)
  select register_worker.worker_id, p_kind, p_action_name, p_host, p_zone, p_pid, p_version, p_config_hash, pg_backend_pid(),
    greatest(1, least(p_slots, room - (
      select coalesce(sum(x.slots), 0) from switchyard.worker x
      where x.ended_at is null and x.lost_at is null and switchyard.worker_key(x.worker_id) = any (living))))::integer
  returning w.slots into slots;
  return next;
end
$$;
comment on function switchyard.register_worker is 'A row for a worker on this connection, and as many slots as the lock table has room for.';

create or replace function switchyard.flow_has_work(p_flow text) returns boolean
language sql stable as $$
  select exists (
    select from switchyard.yard y where (y.flow || '') = p_flow and y.flow is not null and y.status in ('PENDING', 'BACKOFF') and y.due is null)
$$;
comment on function switchyard.flow_has_work is 'Whether anything of that flow is ready.';

-- Distinct names by an index skip scan: the cost depends on the number of names, not on the length of the queue.
create or replace function switchyard.waiting_names() returns setof text
language sql stable security definer set search_path = switchyard, pg_temp as $$
  with recursive ready (name) as (
    (select y.action_name from switchyard.yard y
     where y.flow is null and y.status in ('PENDING', 'BACKOFF') and y.due is null order by y.action_name limit 1)
    union all
    select (select y.action_name from switchyard.yard y
      where y.flow is null and y.status in ('PENDING', 'BACKOFF') and y.due is null and y.action_name > r.name order by y.action_name limit 1)
    from ready r where r.name is not null
  ), waiting (name) as (
    (select y.action_name from switchyard.yard y
     where y.status in ('PENDING', 'BACKOFF') and y.due is not null order by y.action_name limit 1)
    union all
    select (select y.action_name from switchyard.yard y
      where y.status in ('PENDING', 'BACKOFF') and y.due is not null and y.action_name > w.name order by y.action_name limit 1)
    from waiting w where w.name is not null
  )
  select name from ready where name is not null union select name from waiting where name is not null
  union select f.action_name from switchyard.flow f where switchyard.flow_has_work(f.flow)
$$;
comment on function switchyard.waiting_names is 'The action names that something waits under.';

-- A lock that is tried here ends with the statement.
create or replace function switchyard.due_names(p_names text[]) returns setof text
language sql volatile as $$
  select n from unnest(p_names) as n
  where not exists (select from switchyard.paused p where p.action_name = n) and (
    exists (
      select from (
        select y.lock_id from switchyard.yard y
        where y.action_name = n and y.flow is null and y.status in ('PENDING', 'BACKOFF') and y.due is null
        order by y.priority, y.action_uuid limit 100) as c
      where pg_try_advisory_xact_lock(c.lock_id))
    or exists (select from switchyard.flow f where f.action_name = n and switchyard.flow_has_work(f.flow))
    or exists (
      select from switchyard.yard y
      where y.action_name = n and y.status in ('PENDING', 'BACKOFF') and y.due <= clock_timestamp()))
$$;
comment on function switchyard.due_names is 'Those of the names that have something to do that nobody holds.';

-- The lock is the claim: an action that a conductor has claimed is left alone. The event of an action that ended meanwhile
-- is ignored. Submissions may use thousands of names: only names with actions that are old enough are examined,
-- and after two seconds the rest waits for the next call, so that maintenance is not delayed.
create or replace function switchyard.end_unserved(p_known text[], p_after interval, p_limit integer)
returns table (action_name text, ended bigint)
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  began timestamptz := clock_timestamp();
  before uuid := switchyard.uuid_floor(began - p_after);
begin
  for action_name in
    select u.action_name from switchyard.unserved u where u.action_name <> all (p_known) and u.oldest < began - p_after
  loop
    exit when clock_timestamp() > began + interval '2 seconds';
    insert into switchyard.event (action_uuid, status, run, attempt, source, error)
    select o.action_uuid, 'INVALID', o.run, o.attempt, 'conductor', format('no conductor has served the action name %s', o.action_name)
    from (
      select y.* from switchyard.yard y
      where y.action_name = end_unserved.action_name and y.status in ('PENDING', 'BACKOFF') and y.action_uuid < before
        and y.due is distinct from 'infinity' -- what waits for others may be served by the time they have ended
      order by y.action_uuid limit p_limit) as o
    where pg_try_advisory_xact_lock(o.lock_id);
    get diagnostics ended = row_count;
    if ended > 0 then
      return next;
    end if;
  end loop;
end
$$;
comment on function switchyard.end_unserved is 'Ends INVALID what has waited for so long under names that nobody serves and the caller does not know.';

-- Counted since the name was last resumed: resuming it is a decision about the workers lost before. A worker that
-- registered again (same host and process) was not lost: the database was unavailable, or its heartbeat did not arrive.
create or replace function switchyard.pause_where_lost(p_ratio double precision, p_least integer, p_within interval)
returns table (action_name text, lost bigint, started bigint)
language plpgsql security definer set search_path = switchyard, pg_temp as $$
begin
  for action_name, lost, started in
    select w.action_name, count(w.lost_at), count(*) from switchyard.worker w
    where w.action_name is not null
      and w.started_at > greatest(clock_timestamp() - p_within, (
        select max(j.entry_time) from switchyard.journal j where j.kind = 'resume' and j.subject = w.action_name))
      and (w.lost_at is null or not exists (
        select from switchyard.worker n
        where n.host = w.host and n.pid = w.pid and n.action_name = w.action_name and n.started_at > w.started_at))
    group by w.action_name
    having count(w.lost_at) >= p_least and count(w.lost_at) > p_ratio * count(*)
  loop
    if switchyard.pause(action_name, 'conductor', format('%s of %s workers were lost', lost, started)) then
      return next;
    end if;
  end loop;
end
$$;
comment on function switchyard.pause_where_lost is 'Pauses the names whose workers are lost too often; returns those it paused.';
