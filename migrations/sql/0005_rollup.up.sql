-- The triggers that keep thread and yard: nobody else writes them.
--
-- The roll-up. A thread is at the greatest (run, ended, attempt, rank) it has seen, so the order in which events
-- arrive does not matter, but for two ends of one run: the one that gets the thread's row lock first stands.
-- Only retrigger (PENDING) and a workflow's own retry (BACKOFF) open a run, the next one, at attempt 0.
-- What changes nothing is kept and marked ignored. INFO is kept and changes nothing.
--
-- Per statement, in one of two ways. Both lock threads in uuid order, so that two statements never deadlock.
--
-- At once, where each event moves or ends a thread of its own and they come in uuid order, as a conductor's do: one
-- UPDATE whose WHERE is the verdict. It needs no lock beforehand: where it has to wait for somebody's transaction,
-- Postgres evaluates the same WHERE and SET again over that thread as it then is and the same single event. Should one
-- event do anything but move or end, the attempt is rolled back with its locks, and all go the other way.
--
-- One by one, for all else: first lock the threads concerned; then judge in a new statement, which sees what the lock
-- waited for. Several events of one thread in one statement take turns in event_id order, as if each had come by itself.
-- Here the lock has to come first: judged without it, two events for one thread that commit at the same time both go by
-- the state before them, and the later one wins whatever its rank.

-- A hash of what was asked for; the correlation id is who asked, not what.
create function switchyard.content_of(a switchyard.action) returns bytea
language sql immutable parallel safe as $$
  select sha256(convert_to(jsonb_build_array(a.action_type, a.workflow, a.callback, a.parent_uuid, a.priority,
    a.parameters, a.callbacks, extract(epoch from a.start_after))::text, 'UTF8'))
$$;
comment on function switchyard.content_of is 'What an idempotency key stands for: equal for two requests that ask for the same.';

create function switchyard.action_makes_thread() returns trigger
language plpgsql security definer
set search_path = switchyard, pg_temp as $$
declare
  keyed boolean;
  taken record;
  names text[];
begin
  insert into switchyard.thread (action_uuid, created_at, action_name, priority, next_attempt_after, calls_back)
  select f.action_uuid, f.created_at, f.action_name, f.priority, f.start_after,
    f.action_type = 'workflow' or f.callbacks is not null
  from fresh f;
  insert into switchyard.yard (action_uuid, action_name, priority, status, run, attempt, due, lock_id)
  select f.action_uuid, f.action_name, f.priority, 'PENDING', 1, 0, f.start_after, switchyard.uuid_lock(f.action_uuid)
  from fresh f;
  select array_agg(n.action_name), bool_or(n.keyed) into names, keyed
  from (select f.action_name, bool_or(f.idempotency_key is not null) as keyed from fresh f group by f.action_name) as n;
  if keyed then
    -- In key order: two bulk submits with the same keys in different orders would deadlock.
    insert into switchyard.idempotency (action_name, idempotency_key, action_uuid, content)
    select f.action_name, f.idempotency_key, f.action_uuid, switchyard.content_of(a)
    from fresh f join switchyard.action a using (action_uuid)
    where f.idempotency_key is not null
    order by f.action_name, f.idempotency_key
    on conflict do nothing;
    select i.idempotency_key, i.action_uuid into taken
    from fresh f join switchyard.idempotency i using (action_name, idempotency_key)
    where i.action_uuid <> f.action_uuid limit 1;
    if found then
      raise exception 'idempotency_key: % is already used by action %', taken.idempotency_key, taken.action_uuid
        using errcode = 'unique_violation';
    end if;
  end if;
  if names is not null then
    perform switchyard.ring(names);
  end if;
  return null;
end
$$;
comment on function switchyard.action_makes_thread is 'Each new action gets its thread and its place in the yard.';
create trigger action_makes_thread after insert on switchyard.action
  referencing new table as fresh for each statement execute function switchyard.action_makes_thread();

-- What one event does to one thread: info, ignored, ends, moves or opens. A run that nobody opened is refused.
create function switchyard.judge(
  e_uuid uuid, e_status switchyard.status, e_run integer, e_attempt integer,
  t_status switchyard.status, t_run integer, t_attempt integer, t_callbacks_due boolean
) returns text language sql volatile as $$
  select case
    when e_run < t_run then case when e_status = 'INFO' then 'info' else 'ignored' end
    when e_run > t_run then case
      when e_run = t_run + 1 and e_attempt = 0 and not t_callbacks_due and (
        (e_status = 'PENDING' and t_status > 'SUCCESSFUL') or (e_status = 'BACKOFF' and t_status < 'SUCCESSFUL'))
      then 'opens'
      else switchyard.refuse(format('event.run: nobody opened run %s of action %s (it is at run %s, %s)',
        e_run, e_uuid, t_run, t_status), '23514')
    end
    when e_status = 'INFO' then 'info'
    when t_status >= 'SUCCESSFUL' then 'ignored'
    when e_status >= 'SUCCESSFUL' then 'ends'
    when (e_attempt, e_status) > (t_attempt, t_status) then 'moves'
    else 'ignored'
  end
$$;
comment on function switchyard.judge is 'What an event does to a thread in that state.';

-- Plans are pinned: the transition table's size is not known when they are made, and they flip at a thousand rows.
create function switchyard.event_rolls_up() returns trigger
language plpgsql security definer
set search_path = switchyard, pg_temp set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  events bigint;
  at_once boolean;
  moved bigint;
  turns integer;
  threads integer;
  locked integer;
  processable text[];
  marked uuid[];
  marked_ids bigint[];
  marked_ignored boolean[];
  marked_runs integer[];
  marked_attempts integer[];
begin
  select count(*), bool_and(f.whole and f.action_uuid > f.before) is not false into events, at_once
  from (select f.action_uuid, lag(f.action_uuid) over () as before,
      f.status <> 'INFO' and f.run is not null and f.attempt is not null as whole from fresh f) as f;
  if at_once then
    begin
      with moved as (
        update switchyard.thread t set
          status = f.status, attempt = f.attempt,
          next_attempt_after = case when f.status = 'BACKOFF' then f.event_time + make_interval(secs => coalesce(f.retry_seconds, 0)) end,
          started_at = coalesce(t.started_at, now()),
          ended_at = case when f.status >= 'SUCCESSFUL' then now() end,
          last_update = now(), error = f.error, note = f.detail ->> 'note',
          needs_review = f.status > 'SUCCESSFUL' and f.status <> 'CANCELED',
          callbacks_due = f.status >= 'SUCCESSFUL' and t.calls_back
        from fresh f
        where t.action_uuid = f.action_uuid and t.run = f.run and t.status < 'SUCCESSFUL'
          and (f.status >= 'SUCCESSFUL' or (f.attempt, f.status) > (t.attempt, t.status))
        returning t.action_uuid, t.action_name, t.status, t.attempt, t.next_attempt_after
      ), gone as (
        delete from switchyard.yard y using moved m where y.action_uuid = m.action_uuid and m.status >= 'SUCCESSFUL'
      ), stays as (
        update switchyard.yard y set status = m.status, attempt = m.attempt, due = m.next_attempt_after
        from moved m where y.action_uuid = m.action_uuid and m.status < 'SUCCESSFUL'
      )
      select count(*), array_agg(distinct m.action_name) filter (where m.status in ('PENDING', 'BACKOFF'))
      into moved, processable from moved m;
      if moved < events then
        raise exception using errcode = 'SY001', message = 'one of these events does not just move or end its thread';
      end if;
      if processable is not null then
        perform switchyard.ring(processable);
      end if;
      return null;
    exception when sqlstate 'SY001' then
      null; -- nothing of it was done; now one by one
    end;
  end if;
  select coalesce(max(f.events), 0), count(*) into turns, threads
  from (select count(*) as events from fresh f group by f.action_uuid) as f;
  perform 1 from (select distinct f.action_uuid from fresh f) as f join switchyard.thread t using (action_uuid)
  order by t.action_uuid for update of t;
  get diagnostics locked = row_count;
  if locked <> threads then
    perform switchyard.refuse(format('event.action_uuid: there is no action %s', f.action_uuid), '23503')
    from fresh f where not exists (select from switchyard.thread t where t.action_uuid = f.action_uuid) limit 1;
  end if;
  for turn in 1..turns loop
    with due as (
      select * from (
        select f.*, case when turns = 1 then 1 else row_number() over (partition by f.action_uuid order by f.event_id) end as place
        from fresh f) as placed
      where place = turn
    ), judged as materialized (
      select d.event_id, d.action_uuid, d.status, d.event_time, d.error, d.detail, d.retry_seconds,
        d.run is null or d.attempt is null as defaulted, filled.run, filled.attempt,
        switchyard.judge(d.action_uuid, d.status, filled.run, filled.attempt, t.status, t.run, t.attempt, t.callbacks_due) as verdict
      from due d join switchyard.thread t using (action_uuid)
      cross join lateral (select coalesce(d.run, t.run) as run, coalesce(d.attempt, case when d.run > t.run then 0 else t.attempt end) as attempt) as filled
    ), moved as (
      update switchyard.thread t set
        status = j.status, run = j.run, attempt = j.attempt,
        tries = case when j.verdict <> 'opens' then t.tries when j.status = 'BACKOFF' then t.tries + 1 else 0 end,
        next_attempt_after = case when j.status = 'BACKOFF' then j.event_time + make_interval(secs => coalesce(j.retry_seconds, 0)) end,
        started_at = case when j.verdict = 'opens' then null else coalesce(t.started_at, now()) end,
        ended_at = case when j.verdict = 'ends' then now() end,
        last_update = now(), error = j.error, note = j.detail ->> 'note',
        needs_review = j.status > 'SUCCESSFUL' and j.status <> 'CANCELED',
        callbacks_due = j.verdict = 'ends' and t.calls_back
      from judged j
      where t.action_uuid = j.action_uuid and j.verdict in ('moves', 'ends', 'opens')
      returning t.action_uuid, t.action_name, t.priority, t.status, t.run, t.attempt, t.next_attempt_after, t.lock_id
    ), gone as (
      delete from switchyard.yard y using moved m where y.action_uuid = m.action_uuid and m.status >= 'SUCCESSFUL'
    ), stays as (
      insert into switchyard.yard as y (action_uuid, action_name, priority, status, run, attempt, due, lock_id)
      select m.action_uuid, m.action_name, m.priority, m.status, m.run, m.attempt, m.next_attempt_after, m.lock_id
      from moved m where m.status < 'SUCCESSFUL'
      on conflict (action_uuid) do update
        set status = excluded.status, run = excluded.run, attempt = excluded.attempt, due = excluded.due
    )
    select
      (select array_agg(distinct m.action_name) from moved m where m.status in ('PENDING', 'BACKOFF')),
      array_agg(j.action_uuid), array_agg(j.event_id), array_agg(j.verdict = 'ignored'), array_agg(j.run), array_agg(j.attempt)
    into processable, marked, marked_ids, marked_ignored, marked_runs, marked_attempts
    from judged j where j.defaulted or j.verdict = 'ignored';
    if marked is not null then
      update switchyard.event e set ignored = m.ignored, run = m.run, attempt = m.attempt
      from unnest(marked, marked_ids, marked_ignored, marked_runs, marked_attempts) as m (action_uuid, event_id, ignored, run, attempt)
      where e.action_uuid = m.action_uuid and e.event_id = m.event_id;
    end if;
    if processable is not null then
      perform switchyard.ring(processable);
    end if;
  end loop;
  return null;
end
$$;
comment on function switchyard.event_rolls_up is 'Brings the threads to where the new events say they are.';
create trigger event_rolls_up after insert on switchyard.event
  referencing new table as fresh for each statement execute function switchyard.event_rolls_up();
