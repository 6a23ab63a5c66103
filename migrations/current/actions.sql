-- A new action gets its thread and its place in the yard, in the statement that inserts it.

-- A hash of what was asked for; the correlation id is who asked, not what.
create or replace function switchyard.content_of(a switchyard.action) returns bytea
language sql immutable parallel safe as $$
  select sha256(convert_to(jsonb_build_array(a.action_type, a.workflow, a.callback, a.parent_uuid, a.priority,
    a.parameters, a.callbacks, extract(epoch from a.start_after))::text, 'UTF8'))
$$;
comment on function switchyard.content_of is 'What an idempotency key stands for: equal for two requests that ask for the same.';

create or replace function switchyard.action_makes_thread() returns trigger
language plpgsql security definer
set search_path = switchyard, pg_temp as $$
declare
  rows bigint;
  keyed boolean;
  routed boolean;
  taken record;
  wrong record;
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
    select array[f.action_name], f.idempotency_key is not null, f.workflow is not null, case when f.start_after is null then f.action_uuid end
    into names, keyed, routed, ready from fresh f;
  else
    select array_agg(n.action_name), bool_or(n.keyed), bool_or(n.routed) into names, keyed, routed
    from (
      select f.action_name, bool_or(f.idempotency_key is not null) as keyed, bool_or(f.workflow is not null) as routed
      from fresh f group by f.action_name) as n;
  end if;
  if routed then
    -- A workflow under another name would not run, and end with its callbacks all the same.
    select f.workflow, f.action_name, r.action_name as runs_it into wrong
    from fresh f join switchyard.route r using (workflow) where r.action_name <> f.action_name limit 1;
    if found then
      raise exception 'action_name: workflow % is run by %, not by %', wrong.workflow, wrong.runs_it, wrong.action_name
        using errcode = 'check_violation';
    end if;
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
