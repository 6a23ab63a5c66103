-- Jobs: actions that run a workflow, in the terms of OGC API Processes. A caller without access to the table action sees
-- only the jobs that it submitted.

create or replace function switchyard.job_status(status switchyard.status, started_at timestamptz) returns text
language sql immutable parallel safe as $$
  select case
    when status in ('PENDING', 'QUEUED') or status = 'BACKOFF' and started_at is null then 'accepted'
    when status in ('RUNNING', 'BACKOFF') then 'running'
    when status = 'SUCCESSFUL' then 'successful'
    when status = 'CANCELED' then 'dismissed'
    else 'failed' end
$$;
comment on function switchyard.job_status is 'The word of OGC API Processes for a status.';

create or replace view switchyard.visible_action as
select a.* from switchyard.action a
where (select switchyard.sees_all()) or a.submitted_by = (select switchyard.caller());
comment on view switchyard.visible_action is 'The actions that the caller may see.';

create or replace view switchyard.job_event as
select e.* from switchyard.event e
where exists (select from switchyard.visible_action a where a.action_uuid = e.action_uuid);
comment on view switchyard.job_event is 'The events of the actions that the caller may see.';

-- A function, so that a plan for the view need not look at the partitions of event.
create or replace function switchyard.progress_of(job_id uuid, run integer) returns integer
language plpgsql stable security definer set search_path = switchyard, pg_temp as $$
begin
  return (
    select least(100, greatest(0, round(100 * (e.detail ->> 'progress')::numeric))) from switchyard.job_event e
    where e.action_uuid = job_id and e.run = progress_of.run and e.status = 'INFO' and jsonb_typeof(e.detail -> 'progress') = 'number'
    order by e.event_id desc limit 1);
end
$$;
comment on function switchyard.progress_of is 'What a job that the caller may see last reported as its progress, in per cent.';

create or replace view switchyard.job as
select a.action_uuid as job_id, a.workflow as process_id, switchyard.job_status(t.status, t.started_at) as job_status,
  a.created_at, a.action_name, a.priority, a.correlation_id, a.lane, a.tags, a.submitted_by, a.start_after,
  t.status, t.run, t.attempt, t.next_attempt_after, t.started_at, t.ended_at, t.last_update, t.error, t.note, t.needs_review,
  p.outputs, p.response,
  case when t.status = 'SUCCESSFUL' and t.attempt = 0 then switchyard.reused(a.action_uuid, t.run) end as reused,
  case when t.status = 'SUCCESSFUL' then 100 when t.status between 'QUEUED' and 'BACKOFF' then switchyard.progress_of(a.action_uuid, t.run) end
    as progress
from switchyard.visible_action a join switchyard.thread t using (action_uuid) left join switchyard.presentation p using (action_uuid)
where a.workflow is not null and p.hidden_at is null;
comment on view switchyard.job is 'Actions that run a workflow, in the words of OGC API Processes; without those that were dismissed after their end.';

-- A body in SQL would be planned over all partitions at every call. Callbacks are submitted by caboose: a caller that may see an action may also see its callbacks.
create or replace function switchyard.family(root uuid, most integer default 1000)
returns table (action_uuid uuid, parent_uuid uuid, action_name text, workflow text, callback text, depth integer,
  status switchyard.status, run integer, attempt integer, error text, created_at timestamptz, ended_at timestamptz)
language plpgsql stable security definer set search_path = switchyard, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  return query
  with recursive f as (
    select a.action_uuid, a.parent_uuid, a.action_name, a.workflow, a.callback, 0 as depth
    from switchyard.visible_action a where a.action_uuid = root
    union all
    select a.action_uuid, a.parent_uuid, a.action_name, a.workflow, a.callback, f.depth + 1
    from f join switchyard.action a on a.parent_uuid = f.action_uuid and a.action_uuid > f.action_uuid
  )
  select m.*, t.status, t.run, t.attempt, t.error, t.created_at, t.ended_at
  from (select * from f limit most) as m cross join lateral (
    select * from switchyard.thread t where t.action_uuid = m.action_uuid offset 0) as t
  order by m.depth, m.action_uuid;
end
$$;
comment on function switchyard.family is 'An action that the caller may see and all that followed from it, parents before children.';

-- All members were submitted by the caller that submitted the set, so a caller that may see one may see all. A member of a campaign has no node.
create or replace function switchyard.graph_of(job_id uuid)
returns table (whole uuid, name text, action_uuid uuid, action_name text, workflow text, after text[], status switchyard.status, run integer,
  attempt integer, error text, started_at timestamptz, ended_at timestamptz)
language plpgsql stable security definer set search_path = switchyard, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  root uuid := (
    select case when a.node is not null then a.member_of when a.action_name = 'graph' then a.action_uuid end
    from switchyard.visible_action a where a.action_uuid = job_id);
begin
  if root is null then
    return;
  end if;
  return query
  with member as (
    select a.* from switchyard.action a
    where a.member_of = root and a.action_uuid > root and a.node is not null order by a.action_uuid limit 1000)
  select root, m.node, m.action_uuid, m.action_name, m.workflow,
    array(select d.node from member d where d.action_uuid = any(m.after) order by d.action_uuid),
    t.status, t.run, t.attempt, t.error, t.started_at, t.ended_at
  from member m cross join lateral (select * from switchyard.thread x where x.action_uuid = m.action_uuid offset 0) as t
  order by m.action_uuid;
end
$$;
comment on function switchyard.graph_of is 'The steps of the graph that a job which the caller may see is the whole or a step of, in an order in which they may run.';

-- The facts contain other actions and workers: a caller that sees only its own jobs is given only the sentence.
create or replace function switchyard.job_why(job_id uuid) returns jsonb
language plpgsql stable security definer set search_path = switchyard, pg_temp as $$
declare
  detail jsonb;
begin
  if not exists (select from switchyard.visible_action a where a.action_uuid = job_id) then
    raise exception 'job: there is no job %', job_id using errcode = 'no_data_found';
  end if;
  detail := switchyard.why_detail(job_id);
  return case when switchyard.sees_all() then detail
    else jsonb_build_object('kind', detail -> 'kind', 'sentence', detail -> 'sentence', 'estimate', detail -> 'estimate') end;
end
$$;
comment on function switchyard.job_why is 'Why a job that the caller may see has not ended.';

-- The recent durations of its workflow: the estimate for an action that has just started.
create or replace function switchyard.job_usual(job_id uuid, out low_seconds double precision, out high_seconds double precision)
language plpgsql stable security definer set search_path = switchyard, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  a record;
begin
  select x.action_name, x.workflow into a from switchyard.visible_action x where x.action_uuid = job_id;
  if found then
    select e.low, e.high into low_seconds, high_seconds from switchyard.estimated_seconds(a.action_name, a.workflow, 0, 0) as e;
  end if;
end
$$;
comment on function switchyard.job_usual is 'Between which times 8 of 10 recent jobs of the same process took, of a job that the caller may see; null where too few are known.';

-- Submits a job over HTTP: the same function as everywhere, and in which form its results were requested.
create or replace function switchyard.execute(
  process text, inputs jsonb, idempotency_key text default null, correlation_id text default null, callbacks jsonb default null,
  outputs jsonb default null, response text default null, priority integer default 100, lane text default null, tags text[] default null,
  version text default null, no_cache boolean default null, start_after timestamptz default null, after uuid[] default null,
  after_policy text default null
) returns uuid
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  job_id uuid;
  current text;
  unseen uuid;
begin
  select r.xmin::text into current from switchyard.route r where r.workflow = process;
  if not found then
    raise exception 'process: there is no process %', process using errcode = 'no_data_found';
  elsif version <> current then
    raise exception 'process: % was announced again', process using errcode = 'serialization_failure';
  end if;
  if after is not null then
    -- Who may not see an action learns nothing of it: neither that it is there, nor when it ends.
    select u.id into unseen from unnest(after) as u (id)
    where not exists (select from switchyard.visible_action a where a.action_uuid = u.id) limit 1;
    if found then
      raise exception 'after: there is no job %', unseen using errcode = 'foreign_key_violation';
    end if;
  end if;
  job_id := switchyard.submit(parameters => inputs, workflow => process, idempotency_key => execute.idempotency_key,
    correlation_id => execute.correlation_id, callbacks => execute.callbacks, priority => execute.priority,
    lane => execute.lane, tags => execute.tags, no_cache => execute.no_cache, start_after => execute.start_after,
    after => execute.after, after_policy => execute.after_policy);
  if outputs is not null or response is not null then
    insert into switchyard.presentation (action_uuid, outputs, response) values (job_id, execute.outputs, execute.response)
    on conflict do nothing;
  end if;
  return job_id;
end
$$;
comment on function switchyard.execute is 'Submits a job of that process in the caller''s name; with an idempotency key used before, the first job. With a version, only while the process is as it was when that was read.';

-- Planning the view over all partitions takes twice as long as everything else here; the generic plan reads one partition of each table at run time.
create or replace function switchyard.execute_job(
  process text, inputs jsonb, idempotency_key text, correlation_id text, callbacks jsonb, outputs jsonb, response text, priority integer,
  lane text, tags text[], version text, no_cache boolean default null, start_after timestamptz default null,
  after uuid[] default null, after_policy text default null
) returns jsonb
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  made uuid := switchyard.execute(process, inputs, idempotency_key, correlation_id, callbacks, outputs, response, priority, lane, tags, version, no_cache,
    start_after, after, after_policy);
begin
  return (select to_jsonb(j) from switchyard.job j where j.job_id = made);
end
$$;
comment on function switchyard.execute_job is 'The same as execute; returns the job.';

-- A caller may cancel the jobs that it may see: an open job is canceled, an ended one is no longer listed. No row is deleted.
create or replace function switchyard.dismiss_job(job_id uuid, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
begin
  if not exists (select from switchyard.job j where j.job_id = dismiss_job.job_id) then
    raise exception 'job: there is no job %', job_id using errcode = 'no_data_found';
  elsif switchyard.cancel(job_id, switchyard.caller(), reason) then
    return true;
  end if;
  insert into switchyard.presentation as p (action_uuid, hidden_at, hidden_by) values (job_id, now(), switchyard.caller())
  on conflict (action_uuid) do update set hidden_at = excluded.hidden_at, hidden_by = excluded.hidden_by;
  insert into switchyard.event (action_uuid, status, source, detail)
  values (job_id, 'INFO', 'admin', jsonb_build_object('hidden', true, 'actor', switchyard.caller(), 'reason', reason));
  return false;
end
$$;
comment on function switchyard.dismiss_job is 'Cancels an open job; hides one that has ended from the list of jobs. True where it was open.';
