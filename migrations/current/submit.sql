-- Submitting: in the caller's transaction, so that a submission commits or rolls back with it.

create or replace function switchyard.action_name_for(workflow text, action_name text) returns text
language plpgsql stable as $$
declare
  routed text;
begin
  if workflow is not null then
    select r.action_name into routed from switchyard.route r where r.workflow = action_name_for.workflow;
  end if;
  if action_name is null and routed is null then
    raise exception 'action_name: needed, for no conductor has announced a workflow %', coalesce(workflow, '(none)')
      using errcode = 'null_value_not_allowed';
  elsif action_name <> routed then
    raise exception 'action_name: workflow % is run by %, not by %', workflow, routed, action_name
      using errcode = 'invalid_parameter_value';
  end if;
  return coalesce(action_name, routed);
end
$$;
comment on function switchyard.action_name_for is 'The name that runs that workflow; an error where it is not the one given.';

create or replace function switchyard.first_of_key(wanted switchyard.action) returns uuid
language plpgsql as $$
declare
  first switchyard.idempotency;
begin
  insert into switchyard.idempotency as i values (wanted.action_name, wanted.idempotency_key, wanted.action_uuid, switchyard.content_of(wanted))
  on conflict do nothing;
  if found then
    return wanted.action_uuid;
  end if;
  select * into first from switchyard.idempotency i
  where i.action_name = wanted.action_name and i.idempotency_key = wanted.idempotency_key;
  if first.content is distinct from switchyard.content_of(wanted) then
    raise exception 'idempotency_key: % was used for action %, which asked for something else', wanted.idempotency_key, first.action_uuid
      using errcode = 'unique_violation';
  end if;
  return first.action_uuid;
end
$$;
comment on function switchyard.first_of_key is 'The first action that was submitted under that key: this one, or one that asked for the same.';

create or replace function switchyard.submit(
  action_name text default null, parameters jsonb default '{}', workflow text default null, priority integer default 100,
  correlation_id text default null, idempotency_key text default null, start_after timestamptz default null,
  parent_uuid uuid default null, callbacks jsonb default null, lane text default null, tags text[] default null,
  after uuid[] default null, after_policy text default null, no_cache boolean default null
) returns uuid language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  wanted switchyard.action;
  first uuid;
begin
  if priority is null or priority not between -32768 and 32767 then
    raise exception 'priority: must be between -32768 and 32767, not %', priority using errcode = 'numeric_value_out_of_range';
  end if;
  wanted.action_uuid := switchyard.uuid7();
  wanted.action_name := switchyard.action_name_for(workflow, action_name);
  wanted.action_type := case when workflow is null then 'callback' else 'workflow' end;
  wanted.workflow := workflow;
  wanted.parent_uuid := parent_uuid;
  wanted.priority := priority;
  wanted.parameters := coalesce(parameters, '{}');
  wanted.callbacks := callbacks;
  wanted.start_after := start_after;
  wanted.lane := lane;
  wanted.after := nullif(after, '{}');
  wanted.after_policy := after_policy;
  wanted.no_cache := nullif(no_cache, false);
  if idempotency_key is not null then
    wanted.idempotency_key := idempotency_key;
    first := switchyard.first_of_key(wanted);
    if first <> wanted.action_uuid then
      return first;
    end if;
  end if;
  insert into switchyard.action (action_uuid, action_type, action_name, workflow, parent_uuid, priority, parameters, callbacks, correlation_id, idempotency_key, start_after, lane, tags,
    after, after_policy, no_cache, submitted_by)
  values (wanted.action_uuid, wanted.action_type, wanted.action_name, wanted.workflow, wanted.parent_uuid, wanted.priority, wanted.parameters,
    wanted.callbacks, submit.correlation_id, submit.idempotency_key, wanted.start_after, wanted.lane, nullif(submit.tags, '{}'),
    wanted.after, wanted.after_policy, wanted.no_cache, switchyard.caller());
  return wanted.action_uuid;
end
$$;
comment on function switchyard.submit is 'Asks for an action, and returns its id; with an idempotency key used before, the first action''s.';

create or replace function switchyard.tags_in(body jsonb) returns text[]
language plpgsql immutable parallel safe as $$
begin
  if coalesce(body -> 'tags', 'null') = 'null' then
    return null;
  elsif jsonb_typeof(body -> 'tags') <> 'array' or jsonb_path_exists(body, 'strict $.tags[*] ? (@.type() != "string")') then
    raise exception 'tags: must be a list of strings' using errcode = 'invalid_parameter_value';
  end if;
  return nullif(array(select jsonb_array_elements_text(body -> 'tags')), '{}');
end
$$;
comment on function switchyard.tags_in is 'The tags of one request of submit_many.';

create or replace function switchyard.requested(body jsonb) returns switchyard.action
language plpgsql volatile as $$
declare
  wanted switchyard.action;
begin
  wanted.action_uuid := switchyard.uuid7();
  wanted.action_name := switchyard.action_name_for(body ->> 'workflow', body ->> 'action_name');
  wanted.action_type := case when body ->> 'workflow' is null then 'callback' else 'workflow' end;
  wanted.workflow := body ->> 'workflow';
  wanted.parent_uuid := body ->> 'parent_uuid';
  wanted.priority := coalesce(body ->> 'priority', '100');
  wanted.parameters := coalesce(body -> 'parameters', '{}');
  wanted.callbacks := nullif(body -> 'callbacks', 'null');
  wanted.correlation_id := body ->> 'correlation_id';
  wanted.idempotency_key := body ->> 'idempotency_key';
  wanted.start_after := body ->> 'start_after';
  wanted.lane := body ->> 'lane';
  wanted.tags := switchyard.tags_in(body);
  wanted.after := nullif(array(select jsonb_array_elements_text(nullif(body -> 'after', 'null'))::uuid), '{}');
  wanted.after_policy := body ->> 'after_policy';
  wanted.no_cache := nullif((body ->> 'no_cache')::boolean, false);
  return wanted;
end
$$;
comment on function switchyard.requested is 'The action that one request of submit_many asks for, with a new id.';

-- The keys in order, then the actions whose keys are new: two bulk submits with the same keys never deadlock.
create or replace function switchyard.submit_many(requests jsonb) returns table (place bigint, action_uuid uuid)
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  wanted switchyard.action[];
  clash record;
begin
  select array_agg(switchyard.requested(r.body) order by r.place) into wanted
  from jsonb_array_elements(requests) with ordinality as r (body, place);
  insert into switchyard.idempotency (action_name, idempotency_key, action_uuid, content)
  select w.action_name, w.idempotency_key, w.action_uuid, switchyard.content_of(w)
  from unnest(wanted) as w where w.idempotency_key is not null
  order by w.action_name, w.idempotency_key, w.action_uuid
  on conflict do nothing;
  select i.idempotency_key, i.action_uuid into clash
  from unnest(wanted) as w join switchyard.idempotency i using (action_name, idempotency_key)
  where i.content <> switchyard.content_of(w) limit 1;
  if found then
    raise exception 'idempotency_key: % was used for action %, which asked for something else',
      clash.idempotency_key, clash.action_uuid using errcode = 'unique_violation';
  end if;
  insert into switchyard.action (action_uuid, action_type, action_name, workflow, parent_uuid, priority, parameters, callbacks, correlation_id, idempotency_key, start_after,
    lane, tags, after, after_policy, no_cache)
  select w.action_uuid, w.action_type, w.action_name, w.workflow, w.parent_uuid, w.priority, w.parameters, w.callbacks, w.correlation_id, w.idempotency_key, w.start_after,
    w.lane, w.tags, w.after, w.after_policy, w.no_cache
  from unnest(wanted) as w left join switchyard.idempotency i using (action_name, idempotency_key)
  where w.idempotency_key is null or i.action_uuid = w.action_uuid;
  return query
  select p.place::bigint, coalesce(i.action_uuid, (wanted[p.place]).action_uuid)
  from generate_subscripts(wanted, 1) as p (place) left join switchyard.idempotency i
    on i.action_name = (wanted[p.place]).action_name and i.idempotency_key = (wanted[p.place]).idempotency_key
  order by p.place;
end
$$;
comment on function switchyard.submit_many is 'submit for a JSON list of requests at once; the ids in the order of the list.';
