-- Waiting: an action with `after` starts once those actions have ended.
--
-- Held     It is PENDING in the yard with due = infinity, so no claim sees it. Its row in `waiting` lists the actions that it waits for.
-- Watched  It marks one open action of those (yard.watched). The transaction that ends a marked row notifies; there is no counter
--          that a crash could leave wrong, and an end takes no lock of a waiter.
-- Settled  settle_waiting looks at waiters that watch no marked and open action, and either marks another open one, or decides:
--          release, or CANCELED with the reason. Conductors run it; any number may do so, because it holds no state.
--
-- Why it is correct:
-- - The decision is made in one statement, so in one snapshot, in which all of `after` have ended. If the last two end at the same
--   time, a look that sees both follows the second commit.
-- - Marking and ending change the same row of the yard. If the mark is first, the end waits, deletes the marked row, and notifies. If
--   the end is first, the row is locked or deleted, and the waiter is looked at again.
-- - A locked row is not treated as a deleted one: such a waiter is busy, and looked at again.
-- - A waiter is released once: its row in `waiting` is deleted in the releasing transaction, under that row's lock.
-- - No cycle: an action waits only for actions that exist already, and `after` never changes.
-- - No deadlock: all locks of others' rows are taken with SKIP LOCKED. Order: waiting, thread and yard of the waiter, yard of the watched.

-- A conductor without waiters sleeps without a bell; one that settles sleeps on the bell.
create or replace function switchyard.wake_settlers() returns void
language plpgsql as $$
begin
  perform pg_notify('switchyard_maintenance', ''), switchyard.ring(array['switchyard joins']);
end
$$;
comment on function switchyard.wake_settlers is 'Wakes the conductors when this transaction commits: there is a new waiter.';

-- The waiters of one INSERT. Within it, an action may only wait for one with a smaller id, or two could wait for each other.
create or replace function switchyard.hold(p_waiters uuid[]) returns void
language plpgsql as $$
declare
  wrong record;
begin
  select u.waiter, u.dependency into wrong
  from (
    select w.action_uuid as waiter, unnest(w.after) as dependency from switchyard.waiting w where w.action_uuid = any (p_waiters)) as u
  where u.dependency = any (p_waiters) and u.dependency >= u.waiter
    or not exists (select from switchyard.thread t where t.action_uuid = u.dependency) limit 1;
  if found then
    raise exception 'after: there is no action % that % could wait for', wrong.dependency, wrong.waiter using errcode = 'foreign_key_violation';
  end if;
  perform switchyard.wake_settlers();
end
$$;
comment on function switchyard.hold is 'Checks what new waiters wait for, and wakes whoever settles.';

create or replace function switchyard.hold_again(p_uuid uuid) returns void
language plpgsql as $$
begin
  if exists (select from switchyard.reuse r where r.action_uuid = p_uuid) then
    perform switchyard.leave_reuse(array[p_uuid]);
  end if;
  insert into switchyard.waiting (action_uuid, after, policy)
  select a.action_uuid, a.after, coalesce(a.after_policy, 'successful') from switchyard.action a
  where a.action_uuid = p_uuid and a.after is not null
  on conflict (action_uuid) do update set watching = null;
  if found then
    update switchyard.yard y set due = 'infinity' where y.action_uuid = p_uuid;
    perform switchyard.wake_settlers();
  elsif switchyard.seek(array[p_uuid]) <> '{}' then
    update switchyard.yard y set due = 'infinity' where y.action_uuid = p_uuid;
  end if;
end
$$;
comment on function switchyard.hold_again is 'A retriggered action waits again for what it waited for, or looks for a result again.';

-- In the order of their ids, like all functions that lock several threads.
create or replace function switchyard.reopen_waiters(p_uuid uuid, actor text, reason text) returns integer
language plpgsql as $$
declare
  t switchyard.thread;
  reopened integer := 0;
begin
  for t in
    with recursive waiter as (
      select a.action_uuid from switchyard.action a where a.after @> array[p_uuid]
      union
      select a.action_uuid from waiter w join switchyard.action a on a.after @> array[w.action_uuid]
    )
    select x.* from waiter w join switchyard.thread x using (action_uuid)
    where x.status = 'CANCELED' and exists (
      select from switchyard.event e where e.action_uuid = x.action_uuid and e.run = x.run and e.status = 'CANCELED' and e.source = 'joins' and not e.ignored)
    order by x.action_uuid for update of x
  loop
    if t.callbacks_due then
      raise exception 'action %, which waits for %: the callbacks of run % are still being made, try again in a moment', t.action_uuid, p_uuid, t.run
        using errcode = 'object_not_in_prerequisite_state';
    end if;
    insert into switchyard.event (action_uuid, status, run, attempt, source, detail)
    values (t.action_uuid, 'PENDING', t.run + 1, 0, 'joins', jsonb_build_object('actor', actor, 'reason', reason,
      'note', format('waits again: %s was retriggered by %s', p_uuid, actor)));
    reopened := reopened + 1;
  end loop;
  return reopened;
end
$$;
comment on function switchyard.reopen_waiters is 'Reopens the actions that were canceled because this one ended without success, and those that waited for them.';

-- An action that reused a result has no output of its own.
create or replace function switchyard.output_of(p_from uuid, p_runs jsonb, p_taken jsonb) returns jsonb
language sql stable as $$
  select coalesce(
    (select jsonb_build_object('from', o.place -> 'action', 'run', o.place -> 'run') from (
      select coalesce(p_taken -> p_from::text -> 'reused', switchyard.reused(p_from, (p_runs ->> p_from::text)::integer)) as place) as o
     where o.place is not null),
    jsonb_build_object('run', p_runs -> p_from::text))
$$;
comment on function switchyard.output_of is 'Which run of which action the output of one that was waited for is read from.';

create or replace function switchyard.settle_one(w switchyard.waiting) returns text
language plpgsql as $$
declare
  held record;
  pick uuid;
  found_ends record;
begin
  -- Looked at without a lock first: a row that somebody has locked is not gone.
  perform from switchyard.yard y where y.action_uuid = w.action_uuid and y.due = 'infinity';
  if not found then
    delete from switchyard.waiting x where x.action_uuid = w.action_uuid;
    return 'gone';
  end if;
  select t.next_attempt_after, t.run, t.attempt, t.action_name into held
  from switchyard.thread t where t.action_uuid = w.action_uuid for update skip locked;
  if found then
    perform from switchyard.yard y where y.action_uuid = w.action_uuid and y.due = 'infinity' for update skip locked;
  end if;
  if found and exists (select from switchyard.action a where a.action_uuid = w.action_uuid and a.inputs is not null) then
    perform from switchyard.action a where a.action_uuid = w.action_uuid for no key update skip locked; -- it is given its inputs
  end if;
  if not found then
    return 'busy';
  end if;
  -- The youngest is likely to end last.
  select y.action_uuid into pick from switchyard.yard y
  where y.action_uuid = any (w.after) order by y.action_uuid desc limit 1 for no key update skip locked;
  if found then
    update switchyard.yard y set watched = true where y.action_uuid = pick and y.watched is null;
    update switchyard.waiting x set watching = pick where x.action_uuid = w.action_uuid;
    return 'moved';
  end if;
  select count(*) filter (where s.status < 'SUCCESSFUL') as open, count(*) filter (where s.status is null) as unknown,
    count(*) filter (where s.status > 'SUCCESSFUL') as unsuccessful, min(s.id::text) filter (where s.status is distinct from 'SUCCESSFUL') as example,
    jsonb_object_agg(s.id, s.run) as runs
  into found_ends from (
    select d.id, coalesce(t.run, (w.taken -> d.id::text ->> 'run')::integer) as run,
      coalesce(t.status, (w.taken -> d.id::text ->> 'status')::switchyard.status) as status
    from unnest(w.after) as d (id) left join switchyard.thread t on t.action_uuid = d.id) as s;
  if found_ends.open > 0 then
    return 'busy'; -- it is being ended just now
  end if;
  delete from switchyard.waiting x where x.action_uuid = w.action_uuid;
  if found_ends.unknown > 0 or (w.policy = 'successful' and found_ends.unsuccessful > 0) then
    insert into switchyard.event (action_uuid, status, run, attempt, source, error)
    values (w.action_uuid, 'CANCELED', held.run, held.attempt, 'joins', format('of %s actions that it waited for, %s ended without success, like %s',
      cardinality(w.after), found_ends.unsuccessful + found_ends.unknown, found_ends.example));
    return 'canceled';
  end if;
  update switchyard.action a set parameters = a.parameters || jsonb_build_object('$inputs', (
    select jsonb_object_agg(i.key, i.value || switchyard.output_of((i.value ->> 'from')::uuid, found_ends.runs, w.taken)) from jsonb_each(a.inputs) as i))
  where a.action_uuid = w.action_uuid and a.inputs is not null;
  -- Which runs it may take its inputs from: a later retrigger of one of them changes nothing here.
  insert into switchyard.event (action_uuid, status, run, attempt, source, detail)
  values (w.action_uuid, 'INFO', held.run, held.attempt, 'joins', jsonb_build_object('after', found_ends.runs));
  if switchyard.seek(array[w.action_uuid]) = '{}' then
    update switchyard.yard y set due = case when held.next_attempt_after > now() then held.next_attempt_after end, entered = pg_current_xact_id()
    where y.action_uuid = w.action_uuid;
    perform switchyard.ring(array[held.action_name], case when held.next_attempt_after > now() then null else w.action_uuid end);
  end if;
  return 'released';
end
$$;
comment on function switchyard.settle_one is 'Marks another open action for one waiter, or decides about it: moved, released, canceled, gone or busy.';

create or replace function switchyard.report_unsettled(p_uuid uuid, reason text) returns void
language sql as $$
  insert into switchyard.journal (kind, subject, actor, reason, needs_review)
  select 'join', p_uuid, 'conductor', reason, true
  where not exists (select from switchyard.journal j where j.kind = 'join' and j.subject = p_uuid::text and j.needs_review)
$$;
comment on function switchyard.report_unsettled is 'Puts an action that cannot be settled into the inbox, once.';

create or replace function switchyard.looked_at_again(p_sqlstate text) returns timestamptz
language sql stable as $$
  select clock_timestamp() + case when p_sqlstate = '57014' then interval '1 minute' else interval '10 s' end
$$;
comment on function switchyard.looked_at_again is 'Until when something is set aside that could not be settled for this error; longer where it took too long.';

-- p_new: only waiters that watch nothing yet (cheap), only the others (a scan of all waiters), or both. A watched row must be marked, not only
-- exist: an action that was watched, ended and was retriggered has a new row without the mark. In small batches: a kill loses a batch.
create or replace function switchyard.settle_waiting(p_limit integer default 50, p_new boolean default null, out settled integer, out busy integer)
language plpgsql security definer set search_path = switchyard, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  w switchyard.waiting;
begin
  settled := 0;
  busy := 0;
  for w in
    select x.* from switchyard.waiting x
    where x.action_uuid in (
      (select n.action_uuid from switchyard.waiting n
       where n.watching is null and p_new is distinct from false and n.not_before <= now() limit p_limit)
      union all
      (select n.action_uuid from switchyard.waiting n
       where p_new is distinct from true and n.watching is not null and n.not_before <= now()
         and not exists (select from switchyard.yard y where y.action_uuid = n.watching and y.watched) limit p_limit))
    limit p_limit for update of x skip locked
  loop
    -- Whatever one waiter raises (a trigger of somebody's, an odd row) is rolled back alone; it is set aside, and the next
    -- call looks at those behind it. What used up the statement's time is set aside for longer, and the rest of the batch is
    -- left to the next call: this one has no time limit any more.
    begin
      if switchyard.settle_one(w) = 'busy' then
        busy := busy + 1;
      else
        settled := settled + 1;
      end if;
    exception when query_canceled or others then
      settled := settled + 1;
      perform switchyard.report_unsettled(w.action_uuid, sqlerrm);
      update switchyard.waiting x set not_before = switchyard.looked_at_again(sqlstate) where x.action_uuid = w.action_uuid;
      exit when sqlstate = '57014';
    end;
  end loop;
end
$$;
comment on function switchyard.settle_waiting is 'Looks at waiters whose turn it may be; how many moved on, and how many could not be decided because others hold their rows.';

-- Under the lock of the thread's partition: no action can start to wait for one of its actions meanwhile.
create or replace function switchyard.remember_ends(suffix text) returns void
language plpgsql as $$
begin
  execute format('update switchyard.waiting w set taken = w.taken || d.ends, watching = null from (
    select x.action_uuid, jsonb_object_agg(t.action_uuid, jsonb_strip_nulls(jsonb_build_object(
      ''run'', t.run, ''status'', t.status, ''reused'', switchyard.reused(t.action_uuid, t.run)))) as ends
    from switchyard.waiting x join switchyard.%I t on t.action_uuid = any (x.after) group by 1) as d where d.action_uuid = w.action_uuid', 'thread_' || suffix);
end
$$;
comment on function switchyard.remember_ends is 'Stores how the actions of a partition ended that somebody waits for, before it is dropped.';
