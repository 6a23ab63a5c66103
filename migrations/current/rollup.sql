-- The roll-up: an event brings its thread, and the thread's row in the yard, to where the event says it is.
--
-- A thread is at the greatest (run, ended, attempt, rank) it has seen, so the order in which events arrive does not
-- matter, with one exception: of two ends of one run, the one that gets the thread's row lock first counts.
-- Only retrigger (PENDING) and a workflow's own retry (BACKOFF) open a run, the next one, at attempt 0.
-- An event that changes nothing is stored and marked ignored. INFO is stored and changes nothing.
-- `judge` decides what an event does and `rolled` what the thread is afterwards; both paths below use the two.
--
-- At once, where each of many events moves or ends a thread of its own: one UPDATE whose WHERE is the judgement. It needs
-- no lock beforehand: where it has to wait for another transaction, Postgres evaluates the same WHERE and SET again over
-- the thread as it then is and the same event. If it updates fewer threads than there are events, it is rolled back with
-- its locks.
--
-- One by one, for all else: lock the thread, then judge in a new statement, which sees what the lock waited for. Several
-- events of one thread in one statement take turns in event_id order, as if each had come by itself. Judged without the
-- lock, two events for one thread that commit at the same time would both be judged by the state before them, and the
-- later one would win whatever its rank.
--
-- Both lock threads in uuid order, so that two statements never deadlock.

create or replace function switchyard.judge(t switchyard.thread, e switchyard.event) returns text
language sql immutable parallel safe as $$
  select case
    when e.run < t.run then case when e.status = 'INFO' then 'info' else 'ignored' end
    when e.run > t.run then case
      when e.run = t.run + 1 and e.attempt = 0 and not t.callbacks_due and (
        (e.status = 'PENDING' and t.status > 'SUCCESSFUL') or (e.status = 'BACKOFF' and t.status < 'SUCCESSFUL'))
      then 'opens'
      else 'refused'
    end
    when e.status = 'INFO' then 'info'
    when t.status >= 'SUCCESSFUL' then 'ignored'
    when e.status >= 'SUCCESSFUL' then 'ends'
    when (e.attempt, e.status) > (t.attempt, t.status) then 'moves'
    else 'ignored'
  end
$$;
comment on function switchyard.judge is 'What an event does to a thread: info, ignored, moves, ends, opens (a run) or refused.';

create or replace function switchyard.note_of(e switchyard.event) returns text
language sql immutable parallel safe as $$
  select coalesce(e.detail ->> 'note', case when e.status > 'SUCCESSFUL' then left(split_part(e.error, E'\n', 1), 200) end)
$$;
comment on function switchyard.note_of is 'The note of an event, or for a failure the first line of its error.';

-- RETURNS TABLE so that Postgres inlines it: called as a function it would cost more than the update.
create or replace function switchyard.rolled(t switchyard.thread, e switchyard.event) returns table (
  status switchyard.status, run integer, attempt integer, tries integer, next_attempt_after timestamptz,
  started_at timestamptz, ended_at timestamptz, last_update timestamptz, error text, note text,
  needs_review boolean, callbacks_due boolean
) language sql stable parallel safe as $$
  select e.status, e.run, e.attempt,
    case when e.run = t.run then t.tries when e.status = 'BACKOFF' then t.tries + 1 else 0 end,
    case when e.status = 'BACKOFF' then e.event_time + make_interval(secs => coalesce(e.retry_seconds, 0)) end,
    case when e.run = t.run then coalesce(t.started_at, case when e.status not in ('PENDING', 'BACKOFF') then now() end) end,
    case when e.status >= 'SUCCESSFUL' then now() end,
    now(), e.error, switchyard.note_of(e),
    e.status > 'SUCCESSFUL' and e.status <> 'CANCELED',
    e.status >= 'SUCCESSFUL' and t.calls_back
$$;
comment on function switchyard.rolled is 'The thread after an event that moves it, ends it or opens a run.';

create or replace function switchyard.roll_up_one(event switchyard.event) returns text
language plpgsql as $$
declare
  thread switchyard.thread;
  complete boolean := event.run is not null and event.attempt is not null;
  verdict text;
begin
  select * into thread from switchyard.thread t where t.action_uuid = event.action_uuid for update;
  if not found then
    raise exception 'event.action_uuid: there is no action %', event.action_uuid using errcode = 'foreign_key_violation';
  end if;
  event.attempt := coalesce(event.attempt, case when event.run > thread.run then 0 else thread.attempt end);
  event.run := coalesce(event.run, thread.run);
  verdict := switchyard.judge(thread, event);
  if verdict = 'refused' then
    raise exception 'event.run: nobody opened run % of action % (it is at run %, %)',
      event.run, event.action_uuid, thread.run, thread.status using errcode = 'check_violation';
  elsif verdict = 'ignored' or not complete then
    update switchyard.event e set ignored = verdict = 'ignored', run = event.run, attempt = event.attempt
    where e.action_uuid = event.action_uuid and e.event_id = event.event_id;
  end if;
  if verdict in ('info', 'ignored') then
    return null;
  end if;
  update switchyard.thread t set
    (status, run, attempt, tries, next_attempt_after, started_at, ended_at, last_update, error, note,
      needs_review, callbacks_due)
    = (r.status, r.run, r.attempt, r.tries, r.next_attempt_after, r.started_at, r.ended_at, r.last_update, r.error, r.note,
      r.needs_review, r.callbacks_due)
  from switchyard.rolled(thread, event) as r
  where t.action_uuid = event.action_uuid returning t.next_attempt_after into thread.next_attempt_after;
  if verdict = 'ends' then
    delete from switchyard.yard y where y.action_uuid = event.action_uuid;
  else
    insert into switchyard.yard as y (action_uuid, action_name, priority, status, run, attempt, due, lock_id)
    values (thread.action_uuid, thread.action_name, thread.priority, event.status, event.run, event.attempt,
      thread.next_attempt_after, thread.lock_id)
    on conflict (action_uuid) do update
      set status = excluded.status, run = excluded.run, attempt = excluded.attempt, due = excluded.due;
  end if;
  return case when event.status in ('PENDING', 'BACKOFF') then thread.action_name end;
end
$$;
comment on function switchyard.roll_up_one is 'Rolls up one event under its thread''s row lock; the action name where that made it processable.';

-- Plans are pinned: the transition table's size is not known when they are made, and they flip at a thousand rows. They
-- are generic: planning an update of partitions anew for each event takes longer than the update. The settings hold for
-- roll_up_one too. The transition table can be read in this function alone, so the update of many is here.
create or replace function switchyard.event_rolls_up() returns trigger
language plpgsql security definer
set search_path = switchyard, pg_temp set plan_cache_mode = force_generic_plan
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  events bigint;
  moved bigint;
  event switchyard.event;
  name text;
  processable text[];
begin
  select count(*) into events from fresh;
  if events > 1 then
    begin
      with moved as (
        update switchyard.thread t set
          (status, run, attempt, tries, next_attempt_after, started_at, ended_at, last_update, error, note,
            needs_review, callbacks_due) = (select r.* from switchyard.rolled(t, e.event) as r)
        from (
          select f.action_uuid, f::switchyard.event as event from fresh f
          where f.run is not null and f.attempt is not null order by f.action_uuid) as e
        -- The judgement implies the same run. Stated, it makes Postgres expect few rows, and so look each up in the yard;
        -- else, where the yard was small when it was analysed, it reads all of these for every row of the yard.
        where t.action_uuid = e.action_uuid and t.run = (e.event).run and switchyard.judge(t, e.event) in ('moves', 'ends')
        returning t.action_uuid, t.action_name, t.status, t.attempt, t.next_attempt_after
      ), gone as (
        delete from switchyard.yard y using moved m where y.action_uuid = m.action_uuid and m.status >= 'SUCCESSFUL'
      ), stays as (
        update switchyard.yard y set status = m.status, attempt = m.attempt, due = m.next_attempt_after
        from moved m where y.action_uuid = m.action_uuid and m.status < 'SUCCESSFUL'
      )
      select count(*), array_agg(distinct m.action_name) filter (where m.status in ('PENDING', 'BACKOFF'))
      into moved, processable from moved m;
      if moved = events then
        if processable is not null then
          perform switchyard.ring(processable);
        end if;
        return null;
      end if;
      raise exception using errcode = 'SY001', message = 'not every event moves or ends a thread of its own';
    exception when sqlstate 'SY001' then
      processable := null; -- the update was rolled back: one by one
    end;
  end if;
  for event in select * from fresh f order by f.action_uuid, f.event_id loop
    name := switchyard.roll_up_one(event);
    if name is not null and name = any (processable) is not true then
      processable := processable || name;
    end if;
  end loop;
  if processable is not null then
    perform switchyard.ring(processable);
  end if;
  return null;
end
$$;
comment on function switchyard.event_rolls_up is 'Brings the threads to where the new events say they are.';

do $$
begin
  -- Only where it is missing: CREATE OR REPLACE TRIGGER would wait for every open writer, and later writers behind it.
  if not exists (select from pg_trigger where tgrelid = 'switchyard.event'::regclass and tgname = 'event_rolls_up') then
    create trigger event_rolls_up after insert on switchyard.event
      referencing new table as fresh for each statement execute function switchyard.event_rolls_up();
  end if;
end
$$;
