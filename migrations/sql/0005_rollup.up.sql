-- The triggers that keep thread and yard: nobody else writes them.
--
-- The roll-up. A thread is at the greatest (run, ended, attempt, rank) it has seen, so the order in which events
-- arrive does not matter, but for two ends of one run: the one that gets the thread's row lock first stands.
-- Only retrigger (PENDING) and a workflow's own retry (BACKOFF) open a run, the next one, at attempt 0.
-- What changes nothing is kept and marked ignored. INFO is kept and changes nothing.
--
-- Per statement, in one of two ways. Both lock threads in uuid order, so that two statements never deadlock.
--
-- At once, where each of many events moves or ends a thread of its own: one UPDATE whose WHERE is the verdict. It needs no
-- lock beforehand: where it has to wait for somebody's transaction, Postgres evaluates the same WHERE and SET again over
-- the thread as it then is and the same event. Should fewer threads have been updated than there are events, the attempt is
-- rolled back with its locks.
--
-- One by one, for all else: lock the thread, then judge what the lock waited for. Several events of one thread in one
-- statement take turns in event_id order, as if each had come by itself. Judged without the lock, two events for one thread
-- that commit at the same time would both go by the state before them, and the later one win whatever its rank.

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
  rows bigint;
  keyed boolean;
  taken record;
  names text[];
  ready uuid;
begin
  insert into switchyard.thread (action_uuid, created_at, action_name, priority, next_attempt_after, calls_back)
  select f.action_uuid, f.created_at, f.action_name, f.priority, f.start_after,
    f.action_type = 'workflow' or f.callbacks is not null
  from fresh f;
  insert into switchyard.yard (action_uuid, action_name, priority, status, run, attempt, due, lock_id)
  select f.action_uuid, f.action_name, f.priority, 'PENDING', 1, 0, f.start_after, switchyard.uuid_lock(f.action_uuid)
  from fresh f;
  get diagnostics rows = row_count;
  if rows = 1 then
    select array[f.action_name], f.idempotency_key is not null, case when f.start_after is null then f.action_uuid end
    into names, keyed, ready from fresh f;
  else
    select array_agg(n.action_name), bool_or(n.keyed) into names, keyed
    from (select f.action_name, bool_or(f.idempotency_key is not null) as keyed from fresh f group by f.action_name) as n;
  end if;
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
    perform switchyard.ring(names, ready);
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

-- Plans are pinned: the transition table's size is not known when they are made, and they flip at a thousand rows. They
-- are generic: planning an update of partitions anew for each event takes longer than the update.
create function switchyard.event_rolls_up() returns trigger
language plpgsql security definer
set search_path = switchyard, pg_temp set plan_cache_mode = force_generic_plan
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  events bigint;
  moved bigint;
  processable text[];
  event switchyard.event;
  thread switchyard.thread;
  given boolean;
  verdict text;
begin
  select count(*) into events from fresh;
  if events > 1 then
    begin
      with moved as (
        update switchyard.thread t set
          status = e.status, attempt = e.attempt,
          next_attempt_after = case when e.status = 'BACKOFF' then e.event_time + make_interval(secs => coalesce(e.retry_seconds, 0)) end,
          started_at = coalesce(t.started_at, now()),
          ended_at = case when e.status >= 'SUCCESSFUL' then now() end,
          last_update = now(), error = e.error, note = e.detail ->> 'note',
          needs_review = e.status > 'SUCCESSFUL' and e.status <> 'CANCELED',
          callbacks_due = e.status >= 'SUCCESSFUL' and t.calls_back
        from (
          select f.action_uuid, f.status, f.run, f.attempt, f.event_time, f.retry_seconds, f.error, f.detail
          from fresh f where f.status <> 'INFO' and f.attempt is not null order by f.action_uuid) as e
        where t.action_uuid = e.action_uuid and t.run = e.run and t.status < 'SUCCESSFUL'
          and (e.status >= 'SUCCESSFUL' or (e.attempt, e.status) > (t.attempt, t.status))
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
        raise exception using errcode = 'SY001', message = 'not every event moves or ends a thread of its own';
      end if;
      events := 0;
    exception when sqlstate 'SY001' then
      processable := null; -- nothing of it was done: one by one
    end;
  end if;
  for event in select * from fresh f where events > 0 order by f.action_uuid, f.event_id loop
    select * into thread from switchyard.thread t where t.action_uuid = event.action_uuid for update;
    if not found then
      perform switchyard.refuse(format('event.action_uuid: there is no action %s', event.action_uuid), '23503');
    end if;
    given := event.run is not null and event.attempt is not null;
    event.attempt := coalesce(event.attempt, case when event.run > thread.run then 0 else thread.attempt end);
    event.run := coalesce(event.run, thread.run);
    verdict := switchyard.judge(event.action_uuid, event.status, event.run, event.attempt, thread.status, thread.run, thread.attempt, thread.callbacks_due);
    if verdict in ('moves', 'ends', 'opens') then
      update switchyard.thread t set
        status = event.status, run = event.run, attempt = event.attempt,
        tries = case when verdict <> 'opens' then thread.tries when event.status = 'BACKOFF' then thread.tries + 1 else 0 end,
        next_attempt_after = case when event.status = 'BACKOFF' then event.event_time + make_interval(secs => coalesce(event.retry_seconds, 0)) end,
        started_at = case when verdict = 'opens' then null else coalesce(thread.started_at, now()) end,
        ended_at = case when verdict = 'ends' then now() end,
        last_update = now(), error = event.error, note = event.detail ->> 'note',
        needs_review = event.status > 'SUCCESSFUL' and event.status <> 'CANCELED',
        callbacks_due = verdict = 'ends' and thread.calls_back
      where t.action_uuid = event.action_uuid returning t.next_attempt_after into thread.next_attempt_after;
      if verdict = 'ends' then
        delete from switchyard.yard y where y.action_uuid = event.action_uuid;
      else
        insert into switchyard.yard as y (action_uuid, action_name, priority, status, run, attempt, due, lock_id)
        values (thread.action_uuid, thread.action_name, thread.priority, event.status, event.run, event.attempt, thread.next_attempt_after, thread.lock_id)
        on conflict (action_uuid) do update
          set status = excluded.status, run = excluded.run, attempt = excluded.attempt, due = excluded.due;
      end if;
      if event.status in ('PENDING', 'BACKOFF') and thread.action_name = any (processable) is not true then
        processable := processable || thread.action_name;
      end if;
    end if;
    if verdict = 'ignored' or not given then
      update switchyard.event e set ignored = verdict = 'ignored', run = event.run, attempt = event.attempt
      where e.action_uuid = event.action_uuid and e.event_id = event.event_id;
    end if;
  end loop;
  if processable is not null then
    perform switchyard.ring(processable);
  end if;
  return null;
end
$$;
comment on function switchyard.event_rolls_up is 'Brings the threads to where the new events say they are.';
create trigger event_rolls_up after insert on switchyard.event
  referencing new table as fresh for each statement execute function switchyard.event_rolls_up();
