-- A new action gets its thread and its row in the yard in the statement that inserts it.

-- A hash of the request's content. The correlation id and the tags only describe the request and are not part of it.
create or replace function switchyard.content_of(a switchyard.action) returns bytea
language sql immutable parallel safe as $$
  select sha256(convert_to(jsonb_build_array(a.action_type, a.workflow, a.callback, a.parent_uuid, a.priority,
    a.parameters, a.callbacks, extract(epoch from a.start_after), a.lane, a.after, a.after_policy, a.inputs, a.no_cache)::text, 'UTF8'))
$$;
comment on function switchyard.content_of is 'A hash of what was submitted: equal for two submissions of the same.';

create or replace function switchyard.action_makes_thread() returns trigger
language plpgsql security definer
set search_path = switchyard, pg_temp as $$
declare
  rows bigint;
  keyed boolean;
  routed boolean;
  reusing text[];
  located boolean;
  misrouted boolean;
  waits boolean;
  joins boolean;
  taken record;
  wrong record;
  names text[];
  ready uuid;
begin
  insert into switchyard.thread (action_uuid, created_at, action_name, priority, next_attempt_after, calls_back)
  select f.action_uuid, f.created_at, f.action_name, f.priority, f.start_after,
    f.action_type = 'workflow' or f.callbacks is not null
  from fresh f;
  get diagnostics rows = row_count;
  if rows = 1 then
    select array[f.action_name], f.idempotency_key is not null, f.workflow is not null, f.after is not null, f.member_of is not null,
      case when f.start_after is null and f.after is null then f.action_uuid end
    into names, keyed, routed, waits, joins, ready from fresh f;
  else
    select array_agg(n.action_name), bool_or(n.keyed), bool_or(n.routed), bool_or(n.waits), bool_or(n.joins)
    into names, keyed, routed, waits, joins
    from (
      select f.action_name, bool_or(f.idempotency_key is not null) as keyed, bool_or(f.workflow is not null) as routed,
        bool_or(f.after is not null) as waits, bool_or(f.member_of is not null) as joins
      from fresh f group by f.action_name) as n;
  end if;
  if names && array['graph', 'campaign'] then
    -- Those are actions with members. A workflow of the first name has steps; a node of it collects the output of its graph.
    select f.action_name into wrong from fresh f
    where f.action_name in ('graph', 'campaign') and not (f.action_name = 'graph' and (f.workflow is not null or f.member_of is not null))
      and not exists (select from switchyard.sets s where s.action_uuid = f.action_uuid) limit 1;
    if found then
      raise exception 'action_name: % is reserved', wrong.action_name using errcode = 'check_violation';
    end if;
  end if;
  if routed then
    -- A workflow under another name would not run, and end with its callbacks all the same.
    if rows = 1 then
      select r.action_name <> f.action_name, case when r.reuse is not null then array[r.workflow] end, r.located into misrouted, reusing, located
      from fresh f join switchyard.route r using (workflow);
    else
      select bool_or(r.action_name <> f.action_name), array_agg(distinct r.workflow) filter (where r.reuse is not null), bool_or(r.located)
      into misrouted, reusing, located
      from fresh f join switchyard.route r using (workflow);
    end if;
    if misrouted then
      select f.workflow, f.action_name, r.action_name as runs_it into wrong
      from fresh f join switchyard.route r using (workflow) where r.action_name <> f.action_name limit 1;
      raise exception 'action_name: workflow % is run by %, not by %', wrong.workflow, wrong.runs_it, wrong.action_name
        using errcode = 'check_violation';
    end if;
    if located then
      insert into switchyard.footprint (action_uuid, part, area)
      select f.action_uuid, x.part, x.area
      from fresh f join switchyard.route r on r.workflow = f.workflow and r.located cross join lateral switchyard.footprint_of(f.parameters) x;
    end if;
  end if;
  insert into switchyard.yard (action_uuid, action_name, priority, status, run, attempt, due, lock_id, member_of, flow, lane, rank)
  select f.action_uuid, f.action_name, f.priority, 'PENDING', 1, 0,
    case when f.after is null and (f.workflow = any (reusing)) is not true then f.start_after else 'infinity' end,
    switchyard.uuid_lock(f.action_uuid), f.member_of,
    coalesce(w.flow, n.flow),
    case when n.flow is not null then coalesce(f.lane, switchyard.lane_at(f.parameters, n.lane_path), '') end,
    case when coalesce(w.flow, n.flow) is not null then switchyard.rank_of(f.priority, f.action_uuid, n.priority_aging) end
  from fresh f
  left join switchyard.flow n on n.action_name = f.action_name and n.workflow is null
  left join switchyard.flow w on w.action_name = f.action_name and w.workflow = f.workflow;
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
  if waits then
    insert into switchyard.waiting (action_uuid, after, policy)
    select f.action_uuid, f.after, coalesce(f.after_policy, 'successful') from fresh f where f.after is not null;
    perform switchyard.hold(array(select f.action_uuid from fresh f where f.after is not null));
  end if;
  if joins then
    perform switchyard.add_members(f.member_of, count(*)) from fresh f where f.member_of is not null group by f.member_of order by f.member_of;
  end if;
  if exists (select from switchyard.flow x where x.action_name = any (names)) then
    -- After the keys: they stand for what was asked for, not for the lane that was derived from it.
    update switchyard.action a set lane = y.lane
    from fresh f join switchyard.yard y using (action_uuid)
    where a.action_uuid = f.action_uuid and f.lane is null and y.lane <> '';
  end if;
  if reusing is not null then
    ready := null;
    perform switchyard.hold_seekers(array(select f.action_uuid from fresh f where f.after is null and f.workflow = any (reusing)));
  end if;
  perform switchyard.ring(names, ready);
  return null;
end
$$;
comment on function switchyard.action_makes_thread is 'Each new action gets its thread and its place in the yard.';
do $$
begin
  -- Only where it is missing: CREATE OR REPLACE TRIGGER would wait for every open writer, and later writers behind it.
  if not exists (select from pg_trigger where tgrelid = 'switchyard.action'::regclass and tgname = 'action_makes_thread') then
    create trigger action_makes_thread after insert on switchyard.action
      referencing new table as fresh for each statement execute function switchyard.action_makes_thread();
  end if;
end
$$;
