-- The event of an end. In a separate file, because views of several files use it.

create or replace function switchyard.reused(p_uuid uuid, p_run integer) returns jsonb
language sql stable security definer set search_path = switchyard, pg_temp as $$
  select e.detail -> 'reused' from switchyard.event e
  where e.action_uuid = p_uuid and e.run = p_run and e.status = 'SUCCESSFUL' and e.source = 'reuse' and not e.ignored
$$;
comment on function switchyard.reused is 'Where the result of that run is, if it was reused: {action, run}; else null, and it is its own.';
