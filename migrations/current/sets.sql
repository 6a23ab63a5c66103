-- Sets: a set is an action with members, which are other actions, and ends when all of them have ended: a graph or a campaign. It uses
-- the protocol of waiting.sql: the end does not depend on a counter.
--
-- Open     The set is RUNNING, because no conductor has anything to do for it, and its own row in the yard is marked.
-- Watched  It marks one open member. The transaction that ends a marked row notifies.
-- Settled  settle_sets looks at sets that are sealed and watch no open member, and marks another member, or ends the set. If a set
--          ended in another way (canceled, timed out), its open members are canceled.
-- Counted  Every statement that ends members adds a line to tally, in the same transaction, so the sums are consistent with the
--          yard. Lines are never updated. They are used for progress only; whether a member is open is read from the yard.
--
-- Locks, in this order: sets, thread of the set, threads of members. settle_sets waits for none of them.

create or replace function switchyard.open_set(p_set uuid, p_run integer default 1, p_attempt integer default 0) returns void
language plpgsql as $$
begin
  insert into switchyard.event (action_uuid, status, run, attempt, source) values (p_set, 'RUNNING', p_run, p_attempt, 'sets');
  update switchyard.yard y set watched = true where y.action_uuid = p_set;
end
$$;
comment on function switchyard.open_set is 'An action that has members is RUNNING until they have ended.';

-- The row in sets is inserted first: no other action may have such a name (action_makes_thread).
create or replace function switchyard.make_set(wanted switchyard.action, p_policy text default 'successful') returns uuid
language plpgsql as $$
declare
  first uuid;
begin
  wanted.action_uuid := switchyard.uuid7();
  wanted.action_type := 'callback';
  wanted.priority := coalesce(wanted.priority, 100);
  if wanted.idempotency_key is not null then
    first := switchyard.first_of_key(wanted);
    if first <> wanted.action_uuid then
      return first;
    end if;
  end if;
  insert into switchyard.sets (action_uuid, policy) values (wanted.action_uuid, p_policy);
  insert into switchyard.action (action_uuid, action_type, action_name, priority, parameters, callbacks, correlation_id, idempotency_key, lane, tags, submitted_by)
  values (wanted.action_uuid, wanted.action_type, wanted.action_name, wanted.priority, wanted.parameters, wanted.callbacks, wanted.correlation_id,
    wanted.idempotency_key, wanted.lane, wanted.tags, switchyard.caller());
  perform switchyard.open_set(wanted.action_uuid);
  return wanted.action_uuid;
end
$$;
comment on function switchyard.make_set is 'Makes an action that has members; with an idempotency key used before, the id of the first.';

create or replace function switchyard.seal_set(p_set uuid) returns void
language plpgsql as $$
begin
  update switchyard.sets s set sealed = true where s.action_uuid = p_set; -- waits for whoever is adding members
  perform switchyard.wake_settlers();
end
$$;
comment on function switchyard.seal_set is 'No more members: the set ends when the last of them does.';

-- Sealing updates the row, so it waits for this lock; holders of this lock do not wait for each other. (KEY SHARE would not block it.)
create or replace function switchyard.add_members(p_set uuid, members bigint) returns void
language plpgsql as $$
begin
  perform from switchyard.sets s where s.action_uuid = p_set and not s.sealed and not s.settled for share;
  if not found then
    raise exception 'member_of: there is no set % to add members to', p_set using errcode = 'foreign_key_violation';
  end if;
  insert into switchyard.tally (set_uuid, status, n) values (p_set, 'PENDING', members);
end
$$;
comment on function switchyard.add_members is 'Counts new members of a set; an error where it is sealed.';

create or replace function switchyard.note_ends(marks switchyard.mark[]) returns void
language plpgsql as $$
begin
  insert into switchyard.tally (set_uuid, status, n)
  select m.member_of, m.status, count(*) from unnest(marks) as m where m.member_of is not null group by m.member_of, m.status;
  if exists (select from unnest(marks) as m where m.watched) then
    perform switchyard.ring(array['switchyard joins']);
  end if;
end
$$;
comment on function switchyard.note_ends is 'Counts the ends of members, and notifies where somebody waits for one of these actions.';

-- The end of a set depends on its members, so the set is reopened with one of them. A canceled set is not changed.
create or replace function switchyard.join_again(p_uuid uuid, p_old switchyard.status) returns void
language plpgsql as $$
declare
  s switchyard.sets;
begin
  select x.* into s from switchyard.action a join switchyard.sets x on x.action_uuid = a.member_of
  where a.action_uuid = p_uuid for update of x;
  if not found then
    return; -- a member of none, or of one that retention has dropped
  end if;
  insert into switchyard.tally (set_uuid, status, n) values (s.action_uuid, p_old, -1);
  update switchyard.yard y set member_of = s.action_uuid where y.action_uuid = p_uuid;
  perform from switchyard.thread t where t.action_uuid = s.action_uuid and t.status = 'FAILED';
  if found then
    perform switchyard.reopen_set(s.action_uuid, format('open again: member %s was retriggered', p_uuid));
  else
    perform switchyard.wake_settlers();
  end if;
end
$$;
comment on function switchyard.join_again is 'A retriggered action counts as an open member of its set again.';

create or replace function switchyard.reopen_set(p_set uuid, note text, actor text default null, reason text default null) returns integer
language plpgsql as $$
declare
  t switchyard.thread := switchyard.locked_thread(p_set);
begin
  if t.status < 'SUCCESSFUL' then
    return t.run;
  elsif t.callbacks_due then
    raise exception 'action %: the callbacks of run % are still being made, try again in a moment', p_set, t.run
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  insert into switchyard.event (action_uuid, status, run, attempt, source, detail)
  values (p_set, 'PENDING', t.run + 1, 0, 'sets', jsonb_build_object('note', note) || jsonb_strip_nulls(jsonb_build_object('actor', actor, 'reason', reason)));
  insert into switchyard.event (action_uuid, status, run, attempt, source) values (p_set, 'RUNNING', t.run + 1, 0, 'sets');
  update switchyard.yard y set watched = true where y.action_uuid = p_set;
  update switchyard.sets s set settled = false, watching = null where s.action_uuid = p_set;
  perform switchyard.wake_settlers();
  return t.run + 1;
end
$$;
comment on function switchyard.reopen_set is 'Opens the next run of a set that has ended; the run.';

-- In the order of their ids. Members whose callbacks are still being created are left for the next call.
create or replace function switchyard.retrigger_members(
  p_set uuid, most integer, actor text, reason text, ended_before timestamptz default 'infinity', cause text default null
) returns integer
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  done integer;
begin
  perform switchyard.named('actor', actor), switchyard.named('reason', reason);
  perform from switchyard.sets s where s.action_uuid = p_set for update;
  if not found then
    raise exception 'action_uuid: % is neither a graph nor a campaign', p_set using errcode = 'no_data_found';
  end if;
  insert into switchyard.event (action_uuid, status, run, attempt, source, detail)
  select t.action_uuid, 'PENDING', t.run + 1, 0, 'admin', jsonb_build_object('actor', actor, 'reason', reason, 'resume_from', 'failed',
    'note', format('retriggered by %s: %s', actor, reason))
  from (
    select x.* from switchyard.action a join switchyard.thread x using (action_uuid)
    where a.member_of = p_set and x.status > 'SUCCESSFUL' and not x.callbacks_due and x.ended_at < ended_before
      and (retrigger_members.cause is null or x.cause = retrigger_members.cause)
    order by a.action_uuid limit most for update of x) as t
  order by t.action_uuid;
  get diagnostics done = row_count;
  return done;
end
$$;
comment on function switchyard.retrigger_members is 'Retriggers this many members of a set that ended without success (of one cause, where one is given), and with them the set; returns how many.';

create or replace function switchyard.retrigger_set(p_set uuid, actor text, reason text) returns integer
language plpgsql as $$
declare
  run integer := switchyard.reopen_set(p_set, format('retriggered by %s: %s', actor, reason), actor, reason);
begin
  perform switchyard.retrigger_members(p_set, null, actor, reason);
  return run;
end
$$;
comment on function switchyard.retrigger_set is 'Opens a set again, with all its members that ended without success.';

-- Members are locked first, and those that another transaction has locked are skipped: they may be ending.
create or replace function switchyard.cancel_members(p_set uuid, p_status switchyard.status, p_limit integer) returns integer
language plpgsql as $$
declare
  canceled integer;
begin
  insert into switchyard.event (action_uuid, status, run, attempt, source, error)
  select t.action_uuid, 'CANCELED', t.run, t.attempt, 'sets', format('%s, which it belongs to, ended %s', p_set, p_status)
  from (
    select x.action_uuid, x.run, x.attempt from switchyard.yard y join switchyard.thread x using (action_uuid)
    where y.member_of = p_set order by y.action_uuid limit p_limit for update of x skip locked) as t
  order by t.action_uuid;
  get diagnostics canceled = row_count;
  if canceled > 0 then
    perform pg_notify('switchyard_caboose', ''); -- stops their executions
  end if;
  return canceled;
end
$$;
comment on function switchyard.cancel_members is 'Cancels open members of a set that has ended; how many.';

create or replace function switchyard.tally_of(p_set uuid, out added bigint, out successful bigint, out unsuccessful bigint, out open bigint)
language sql stable as $$
  select coalesce(sum(n) filter (where status = 'PENDING'), 0), coalesce(sum(n) filter (where status = 'SUCCESSFUL'), 0),
    coalesce(sum(n) filter (where status > 'SUCCESSFUL'), 0), coalesce(sum(case when status = 'PENDING' then n else -n end), 0)
  from switchyard.tally where set_uuid = p_set
$$;
comment on function switchyard.tally_of is 'How many members a set has, and how they ended.';

-- Lines are deleted and inserted in one statement, so that every reader sees the same sums. Those of the last minutes are not merged, for the rate.
create or replace function switchyard.fold_tally(p_set uuid) returns void
language sql as $$
  with gone as (
    delete from switchyard.tally t where t.ctid = any (array(
      select x.ctid from switchyard.tally x where x.set_uuid = p_set for update skip locked)) returning t.status, t.n, t.at
  )
  insert into switchyard.tally (set_uuid, status, n, at)
  select p_set, g.status, sum(g.n), max(g.at) from gone g
  group by g.status, case when g.at > now() - interval '10 minutes' then date_trunc('minute', g.at) end
$$;
comment on function switchyard.fold_tally is 'Makes one line of many.';

-- The tally is read first: with an old snapshot, the scan over ended members is long. The youngest member is likely to end last.
create or replace function switchyard.settle_set(s switchyard.sets) returns text
language plpgsql as $$
declare
  own switchyard.thread;
  pick uuid;
  sums record;
  failed boolean;
begin
  select * into own from switchyard.thread t where t.action_uuid = s.action_uuid for update skip locked;
  if not found then
    return 'busy';
  elsif own.status >= 'SUCCESSFUL' then
    if switchyard.cancel_members(s.action_uuid, own.status, 500) > 0 then
      return 'moved';
    elsif exists (select from switchyard.yard y where y.member_of = s.action_uuid) then
      return 'busy';
    end if;
    update switchyard.sets x set settled = true where x.action_uuid = s.action_uuid;
    return 'gone';
  end if;
  if (select t.open from switchyard.tally_of(s.action_uuid) as t) > 0 then
    select y.action_uuid into pick from switchyard.yard y
    where y.member_of = s.action_uuid order by y.action_uuid desc limit 1 for no key update skip locked;
    if not found then
      return 'busy'; -- the last ones are being ended just now
    end if;
    update switchyard.yard y set watched = true where y.action_uuid = pick and y.watched is null;
    update switchyard.sets x set watching = pick where x.action_uuid = s.action_uuid;
    return 'moved';
  end if;
  -- In one snapshot: the yard decides, and the tally must agree.
  select exists (select from switchyard.yard y where y.member_of = s.action_uuid) as open_row, t.* into sums from switchyard.tally_of(s.action_uuid) as t;
  if sums.open_row or sums.open <> 0 then
    return 'busy';
  end if;
  perform from switchyard.yard y where y.action_uuid = s.action_uuid for update skip locked;
  if not found then
    return 'busy';
  end if;
  failed := s.policy = 'successful' and sums.unsuccessful > 0;
  insert into switchyard.event (action_uuid, status, run, attempt, source, error, detail)
  values (s.action_uuid, case when failed then 'FAILED' else 'SUCCESSFUL' end::switchyard.status, own.run, own.attempt, 'sets',
    case when failed then format('%s of %s members ended without success', sums.unsuccessful, sums.added) end,
    jsonb_build_object('members', sums.added, 'successful', sums.successful, 'unsuccessful', sums.unsuccessful));
  update switchyard.sets x set settled = true where x.action_uuid = s.action_uuid;
  perform switchyard.fold_tally(s.action_uuid);
  return 'ended';
end
$$;
comment on function switchyard.settle_set is 'Marks another open member of one set, or ends it: moved, ended, gone or busy.';

create or replace function switchyard.settle_sets(p_limit integer default 50, out settled integer, out busy integer)
language plpgsql security definer set search_path = switchyard, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  s switchyard.sets;
begin
  settled := 0;
  busy := 0;
  for s in
    select x.* from switchyard.sets x
    where not x.settled and x.not_before <= now() and (not exists (select from switchyard.yard y where y.action_uuid = x.action_uuid)
      or x.sealed and not exists (select from switchyard.yard y where y.action_uuid = x.watching and y.watched))
    limit p_limit for update of x skip locked
  loop
    -- As in settle_waiting.
    begin
      if switchyard.settle_set(s) = 'busy' then
        busy := busy + 1;
      else
        settled := settled + 1;
      end if;
    exception when query_canceled or others then
      settled := settled + 1;
      perform switchyard.report_unsettled(s.action_uuid, sqlerrm);
      update switchyard.sets x set not_before = switchyard.looked_at_again(sqlstate) where x.action_uuid = s.action_uuid;
      exit when sqlstate = '57014';
    end;
  end loop;
end
$$;
comment on function switchyard.settle_sets is 'Looks at sets that may have ended; how many moved on, and how many could not be decided because others hold their rows.';

create or replace function switchyard.verify_sets() returns table (action_uuid uuid, problem text, expected text, actual text)
language sql stable as $$
  with open_member as (select y.member_of as set_uuid, count(*) as n from switchyard.yard y where y.member_of is not null group by 1),
  ended as (
    select a.member_of as set_uuid, count(*) as members, count(*) filter (where t.status = 'SUCCESSFUL') as successful,
      count(*) filter (where t.status > 'SUCCESSFUL') as unsuccessful
    from switchyard.action a join switchyard.thread t using (action_uuid) where a.member_of is not null group by 1)
  select s.action_uuid, 'tally differs from the yard', coalesce(o.n, 0)::text, t.open::text
  from switchyard.sets s cross join lateral switchyard.tally_of(s.action_uuid) as t left join open_member o on o.set_uuid = s.action_uuid
  where t.open <> coalesce(o.n, 0)
  union all
  -- Retention may have dropped members: then there are fewer.
  select s.action_uuid, 'tally differs from the members', format('%s successful, %s unsuccessful', e.successful, e.unsuccessful),
    format('%s successful, %s unsuccessful', t.successful, t.unsuccessful)
  from switchyard.sets s cross join lateral switchyard.tally_of(s.action_uuid) as t join ended e on e.set_uuid = s.action_uuid
  where t.added = e.members and (t.successful, t.unsuccessful) <> (e.successful, e.unsuccessful)
  union all
  select s.action_uuid, 'settled set is open', 'ended', y.status::text
  from switchyard.sets s join switchyard.yard y using (action_uuid) where s.settled
  union all
  select y.action_uuid, 'member of a set differs from its action', a.member_of::text, y.member_of::text
  from switchyard.yard y join switchyard.action a using (action_uuid)
  where y.member_of is distinct from a.member_of and (y.member_of is not null or exists (select from switchyard.sets s where s.action_uuid = a.member_of))
$$;
comment on function switchyard.verify_sets is 'Every place where a set contradicts its members; empty when all is well.';

create or replace function switchyard.drop_sets(first uuid, beyond uuid) returns void
language plpgsql as $$
begin
  delete from switchyard.tally t where t.set_uuid >= first and t.set_uuid < beyond;
  delete from switchyard.campaign_item i where i.set_uuid >= first and i.set_uuid < beyond;
  delete from switchyard.campaign c where c.action_uuid >= first and c.action_uuid < beyond;
  delete from switchyard.sets s where s.action_uuid >= first and s.action_uuid < beyond;
end
$$;
comment on function switchyard.drop_sets is 'Retention: forgets the sets of a partition.';
