-- The roll-up: an event updates its thread, and the thread's row in the yard.
--
-- A thread is at the greatest (run, ended, attempt, rank) it has seen, so the order in which events arrive does not
-- matter, with one exception: of two ends of one run, the one that gets the thread's row lock first counts.
-- Only retrigger (PENDING) and a workflow's own retry (BACKOFF) open a run, the next one, at attempt 0.
-- An event that changes nothing is stored and marked ignored. INFO is stored and changes nothing.
-- Both paths below share the rules: `judge` decides what an event does, the functions after it compute the new thread.
--
-- In one statement, if each of many events moves or ends a different thread: one UPDATE whose WHERE is the judgement. It needs
-- no lock beforehand: if it has to wait for another transaction, Postgres evaluates the same WHERE and SET again with
-- the thread's new state and the same event. If it updates fewer threads than there are events, it is rolled back with
-- its locks.
--
-- One by one, for everything else: lock the thread, then judge in a new statement, which sees the changes that the lock waited
-- for. Several events of one thread in one statement are applied in event_id order, as if each were a single statement. Without
-- the lock, two events for one thread that commit at the same time would both be judged by the state before them, and the
-- later one would win regardless of its rank.
--
-- Both lock threads in uuid order, so that two statements never deadlock.

-- The rules take single columns, so that Postgres inlines them: with rows as arguments, or one function for all columns,
-- the update in one statement took 2 us more per event.
create or replace function switchyard.judge(
  at_status switchyard.status, at_run integer, at_attempt integer, callbacks_due boolean,
  status switchyard.status, run integer, attempt integer
) returns text language sql immutable parallel safe as $$
  select case
    when run < at_run then case when status = 'INFO' then 'info' else 'ignored' end
    when run > at_run then case
      when run = at_run + 1 and attempt = 0 and not callbacks_due and (
        (status = 'PENDING' and at_status > 'SUCCESSFUL') or (status = 'BACKOFF' and at_status < 'SUCCESSFUL'))
      then 'opens'
      else 'refused'
    end
    when status = 'INFO' then 'info'
    when at_status >= 'SUCCESSFUL' then 'ignored'
    when status >= 'SUCCESSFUL' then 'ends'
    when (attempt, status) > (at_attempt, at_status) then 'moves'
    else 'ignored'
  end
$$;
comment on function switchyard.judge is 'What an event does to a thread: info, ignored, moves, ends, opens (a run) or refused.';

create or replace function switchyard.note_of(status switchyard.status, error text, detail jsonb) returns text
language sql stable parallel safe as $$
  select coalesce(detail ->> 'note', case when status > 'SUCCESSFUL' then coalesce(
    nullif(left(split_part(ltrim(error, E' \n\r\t'), E'\n', 1), 200), ''), format('ended %s without an error text', status)) end)
$$;
comment on function switchyard.note_of is 'The note of an event, or for a failure the first line of its error: every failure has one.';

create or replace function switchyard.due_after(status switchyard.status, event_time timestamptz, retry_seconds double precision)
returns timestamptz language sql stable parallel safe as $$
  select case when status = 'BACKOFF' then event_time + make_interval(secs => coalesce(retry_seconds, 0)) end
$$;
comment on function switchyard.due_after is 'When a thread is due again after an event.';

create or replace function switchyard.started_by(status switchyard.status, started_at timestamptz) returns timestamptz
language sql stable parallel safe as $$
  select coalesce(started_at, case when status not in ('PENDING', 'BACKOFF') then now() end)
$$;
comment on function switchyard.started_by is 'When a run was first seen queued, running or ended.';

create or replace function switchyard.asks_for_review(status switchyard.status) returns boolean
language sql immutable parallel safe as $$
  select status > 'SUCCESSFUL' and status <> 'CANCELED'
$$;
comment on function switchyard.asks_for_review is 'Whether a thread with this status is in the inbox.';

create or replace function switchyard.roll_up_one(event switchyard.event) returns text
language plpgsql as $$
declare
  thread switchyard.thread;
  mark switchyard.mark;
  complete boolean := event.run is not null and event.attempt is not null;
  verdict text;
begin
  select * into thread from switchyard.thread t where t.action_uuid = event.action_uuid for update;
  if not found then
    raise exception 'event.action_uuid: there is no action %', event.action_uuid using errcode = 'foreign_key_violation';
  end if;
  event.attempt := coalesce(event.attempt, case when event.run > thread.run then 0 else thread.attempt end);
  event.run := coalesce(event.run, thread.run);
  verdict := switchyard.judge(
    thread.status, thread.run, thread.attempt, thread.callbacks_due, event.status, event.run, event.attempt);
  if verdict = 'refused' then
    raise exception 'event.run: run % of action % was not opened (it is at run %, %)',
      event.run, event.action_uuid, thread.run, thread.status using errcode = 'check_violation';
  elsif verdict = 'ignored' or not complete then
    update switchyard.event e set ignored = verdict = 'ignored', run = event.run, attempt = event.attempt
    where e.action_uuid = event.action_uuid and e.event_id = event.event_id;
  end if;
  if verdict in ('info', 'ignored') then
    return null;
  end if;
  update switchyard.thread t set
    status = event.status, run = event.run, attempt = event.attempt,
    tries = case when verdict <> 'opens' then thread.tries when event.status = 'BACKOFF' then thread.tries + 1 else 0 end,
    next_attempt_after = switchyard.due_after(event.status, event.event_time, event.retry_seconds),
    started_at = case when verdict <> 'opens' then switchyard.started_by(event.status, thread.started_at) end,
    ended_at = case when verdict = 'ends' then now() end,
    last_update = now(), error = event.error, note = switchyard.note_of(event.status, event.error, event.detail),
    needs_review = switchyard.asks_for_review(event.status), callbacks_due = verdict = 'ends' and thread.calls_back,
    cause = case when switchyard.asks_for_review(event.status) then switchyard.cause_of(event.error) end
  where t.action_uuid = event.action_uuid returning t.next_attempt_after into thread.next_attempt_after;
  if verdict = 'ends' then
    if thread.calls_back then
      perform pg_notify('switchyard_caboose', ''); -- once per transaction, however often
    end if;
    delete from switchyard.yard y where y.action_uuid = event.action_uuid returning y.watched, y.member_of, event.status into mark;
    if mark.watched or mark.member_of is not null then
      perform switchyard.note_ends(array[mark]);
    end if;
  else
    update switchyard.yard y set status = event.status, run = event.run, attempt = event.attempt, due = thread.next_attempt_after,
      entered = pg_current_xact_id()
    where y.action_uuid = event.action_uuid;
    if not found then
      insert into switchyard.yard (action_uuid, action_name, priority, status, run, attempt, due, lock_id, flow, lane, rank)
      select thread.action_uuid, thread.action_name, thread.priority, event.status, event.run, event.attempt,
        thread.next_attempt_after, thread.lock_id, o.flow, o.lane, o.rank
      from switchyard.flow_of(thread.action_uuid) as o;
    end if;
  end if;
  if verdict = 'opens' and thread.status > 'SUCCESSFUL' then
    perform switchyard.hold_again(event.action_uuid), switchyard.join_again(event.action_uuid, thread.status);
  end if;
  return case when event.status in ('PENDING', 'BACKOFF') then thread.action_name end;
end
$$;
comment on function switchyard.roll_up_one is 'Rolls up one event under its thread''s row lock; the action name where that made it processable.';

-- Plans are pinned, because the transition table's size is not known at planning and plans change at a thousand rows. They
-- are generic, because planning an update of partitions for each event takes longer than the update. The settings apply to
-- roll_up_one too. Only this function can read the transition table, so the update in one statement is here.
create or replace function switchyard.event_rolls_up() returns trigger
language plpgsql security definer
set search_path = switchyard, pg_temp set plan_cache_mode = force_generic_plan
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  events bigint;
  moved bigint;
  called_back boolean;
  event switchyard.event;
  name text;
  processable text[];
  marks switchyard.mark[];
begin
  select count(*) into events from fresh;
  if events > 1 then
    begin
      with moved as (
        update switchyard.thread t set
          status = e.status, attempt = e.attempt,
          next_attempt_after = switchyard.due_after(e.status, e.event_time, e.retry_seconds),
          started_at = switchyard.started_by(e.status, t.started_at),
          ended_at = case when e.status >= 'SUCCESSFUL' then now() end,
          last_update = now(), error = e.error, note = switchyard.note_of(e.status, e.error, e.detail),
          needs_review = switchyard.asks_for_review(e.status), callbacks_due = e.status >= 'SUCCESSFUL' and t.calls_back,
          cause = case when switchyard.asks_for_review(e.status) then switchyard.cause_of(e.error) end
        from (
          select f.action_uuid, f.status, f.run, f.attempt, f.event_time, f.retry_seconds, f.error, f.detail
          from fresh f where f.run is not null and f.attempt is not null order by f.action_uuid) as e
        -- The judgement implies the same run. Stated, it makes Postgres expect few rows, and so look each up in the yard;
        -- else, where the yard was small when it was analysed, it reads all of these for every row of the yard.
        where t.action_uuid = e.action_uuid and t.run = e.run
          and switchyard.judge(t.status, t.run, t.attempt, t.callbacks_due, e.status, e.run, e.attempt) in ('moves', 'ends')
        returning t.action_uuid, t.action_name, t.status, t.attempt, t.next_attempt_after, t.callbacks_due
      ), gone as (
        delete from switchyard.yard y using moved m where y.action_uuid = m.action_uuid and m.status >= 'SUCCESSFUL'
        returning y.watched, y.member_of, m.status
      ), stays as (
        update switchyard.yard y set status = m.status, attempt = m.attempt, due = m.next_attempt_after,
          entered = pg_current_xact_id()
        from moved m where y.action_uuid = m.action_uuid and m.status < 'SUCCESSFUL'
      )
      select count(*), array_agg(distinct m.action_name) filter (where m.status in ('PENDING', 'BACKOFF')), bool_or(m.callbacks_due),
        -- Null where no row is marked, which costs nothing.
        (select array_agg(row(g.watched, g.member_of, g.status)::switchyard.mark) filter (where g.watched or g.member_of is not null) from gone g)
      into moved, processable, called_back, marks from moved m;
      if moved = events then
        if called_back then
          perform pg_notify('switchyard_caboose', '');
        end if;
        if processable is not null then
          perform switchyard.ring(processable);
        end if;
        if marks is not null then
          perform switchyard.note_ends(marks);
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
comment on function switchyard.event_rolls_up is 'Updates the threads and the yard for the new events.';

do $$
begin
  -- Only where it is missing: CREATE OR REPLACE TRIGGER would wait for every open writer, and later writers behind it.
  if not exists (select from pg_trigger where tgrelid = 'switchyard.event'::regclass and tgname = 'event_rolls_up') then
    create trigger event_rolls_up after insert on switchyard.event
      referencing new table as fresh for each statement execute function switchyard.event_rolls_up();
  end if;
end
$$;
