-- What only conductors ask of the ledger: a place in the fleet, the names that wait, and when to stop a name.

-- Advisory locks live in a table that all connections share; full, it shuts the server for new ones. So the slots of all
-- workers together stay under a quarter of it. One registers at a time, or two would take the same last slots.
create function switchyard.register_worker(
  p_kind text, p_action_name text, p_host text, p_zone text, p_pid integer, p_version text, p_config_hash text, p_slots integer
) returns table (worker_id uuid, slots integer)
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  room bigint := current_setting('max_locks_per_transaction')::bigint
    * (current_setting('max_connections')::bigint + current_setting('max_prepared_transactions')::bigint) / 4;
begin
  perform pg_advisory_xact_lock(1937204081, 1);
  return query
  insert into switchyard.worker as w
    (kind, action_name, host, zone, pid, version, config_hash, slots, backend_pid, backend_start)
  select p_kind, p_action_name, p_host, p_zone, p_pid, p_version, p_config_hash,
    greatest(1, least(p_slots, room - (
      select coalesce(sum(x.slots), 0) from switchyard.worker x where x.ended_at is null and x.lost_at is null)))::integer,
    a.pid, a.backend_start
  from pg_stat_get_activity(pg_backend_pid()) as a
  returning w.worker_id, w.slots;
end
$$;
comment on function switchyard.register_worker is 'A row for a worker on this connection, and as many slots as the lock table has room for.';

-- Distinct names by hopping along the indexes: the cost is that of the names, not of the queue.
create function switchyard.waiting_names() returns setof text
language sql stable security definer set search_path = switchyard, pg_temp as $$
  with recursive ready (name) as (
    (select y.action_name from switchyard.yard y
     where y.status in ('PENDING', 'BACKOFF') and y.due is null order by y.action_name limit 1)
    union all
    select (select y.action_name from switchyard.yard y
      where y.status in ('PENDING', 'BACKOFF') and y.due is null and y.action_name > r.name order by y.action_name limit 1)
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
$$;
comment on function switchyard.waiting_names is 'The action names that something waits under.';

-- Counted since the name was last resumed: who resumes it has decided about what was lost before.
create function switchyard.pause_where_lost(p_ratio double precision, p_least integer, p_within interval)
returns table (action_name text, lost bigint, started bigint)
language plpgsql security definer set search_path = switchyard, pg_temp as $$
begin
  for action_name, lost, started in
    select w.action_name, count(w.lost_at), count(*) from switchyard.worker w
    where w.action_name is not null
      and w.started_at > greatest(clock_timestamp() - p_within, (
        select max(j.entry_time) from switchyard.journal j where j.kind = 'resume' and j.subject = w.action_name))
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

-- Made after the roles were: revoked and granted here.
revoke all on function
  switchyard.register_worker(text, text, text, text, integer, text, text, integer),
  switchyard.waiting_names(), switchyard.pause_where_lost(double precision, integer, interval) from public;
grant execute on function
  switchyard.register_worker(text, text, text, text, integer, text, text, integer),
  switchyard.waiting_names(), switchyard.pause_where_lost(double precision, integer, interval) to switchyard_worker;
