-- role: takes the caller's role and name until the transaction ends
select set_config('role', %(role)s, true), set_config('switchyard.caller', %(caller)s, true);

-- become: begins a transaction with the caller's role and name
begin;
-- include role

-- use_token: name and role of the valid token with a hash
select name, role from switchyard.use_token(%(hash)s);

-- matching: the filters that the next two queries share
  and (%(error)s::text is null or position(lower(%(error)s) in lower(j.error)) > 0)
  and (%(lane)s::text is null or j.lane = %(lane)s)
  and (%(tag)s::text is null or %(tag)s = any(j.tags))
  and (%(submitted_by)s::text is null or j.submitted_by = %(submitted_by)s)
  and (%(correlation_id)s::text is null or j.correlation_id = %(correlation_id)s)
  and (%(id)s::text is null or starts_with(replace(j.job_id::text, '-', ''), %(id)s)
    or replace(j.job_id::text, '-', '') like '%%' || %(id)s)
  and (%(min_duration)s::float is null
    or coalesce(j.ended_at, now()) - j.started_at >= make_interval(secs => %(min_duration)s))
  and (%(max_duration)s::float is null
    or coalesce(j.ended_at, now()) - j.started_at <= make_interval(secs => %(max_duration)s))

-- jobs: the newest jobs within bounds that match the filters, of as many as the window has
select j.* from (
  select a.action_uuid from switchyard.visible_action a
  where a.workflow is not null and a.action_uuid > %(after)s::uuid and a.action_uuid < %(before)s::uuid
  order by a.action_uuid desc limit %(window)s) as recent
cross join lateral (select * from switchyard.job j where j.job_id = recent.action_uuid offset 0) as j
where (%(processes)s::text[] is null or j.process_id = any(%(processes)s))
  and (%(statuses)s::text[] is null or j.job_status = any(%(statuses)s))
-- include matching
order by recent.action_uuid desc limit %(limit)s;

-- open_jobs: the same for jobs that have not ended, which the yard lists
select j.* from (
  select y.action_uuid from switchyard.yard y
  where y.action_uuid > %(after)s::uuid and y.action_uuid < %(before)s::uuid
  order by y.action_uuid desc limit %(window)s) as recent
cross join lateral (select * from switchyard.job j where j.job_id = recent.action_uuid offset 0) as j
where (%(processes)s::text[] is null or j.process_id = any(%(processes)s))
  and j.job_status = any(%(statuses)s)
-- include matching
order by recent.action_uuid desc limit %(limit)s;

-- located_jobs: the same for jobs with inputs that touch a box
select j.* from switchyard.located(%(areas)s::box[], %(after)s, %(before)s, %(window)s) as recent (job_id)
cross join lateral (select * from switchyard.job j where j.job_id = recent.job_id offset 0) as j
where (%(processes)s::text[] is null or j.process_id = any(%(processes)s))
  and (%(statuses)s::text[] is null or j.job_status = any(%(statuses)s))
-- include matching
order by recent.job_id desc limit %(limit)s;

-- located_window_end: the oldest job that was looked at, where others follow
select x.action_uuid from switchyard.located_end(%(areas)s::box[], %(after)s, %(before)s, %(window)s) as x (action_uuid)
where x.action_uuid is not null;

-- window_end: the oldest job of a whole window, from which the next page goes on
select a.action_uuid from switchyard.visible_action a
where a.workflow is not null and a.action_uuid > %(after)s::uuid and a.action_uuid < %(before)s::uuid
order by a.action_uuid desc offset %(window)s - 1 limit 1;

-- open_window_end: the same for jobs that have not ended
select y.action_uuid from switchyard.yard y where y.action_uuid > %(after)s::uuid and y.action_uuid < %(before)s::uuid
order by y.action_uuid desc offset %(window)s - 1 limit 1;

-- counts: how many entries of the inbox wait and how many campaigns go on, of each kind 1,000 at most; the view counts them all
with going as materialized (
  select c.action_uuid from (select x.action_uuid from switchyard.campaign x order by x.action_uuid desc limit 1000) as c
  where exists (select from switchyard.yard y where y.action_uuid = c.action_uuid))
select (select count(*) from (select from switchyard.thread t where t.needs_review limit 1000) as failed)
  + (select count(*) from (select from switchyard.journal j where j.needs_review limit 1000) as entries)
  + (select count(*) from switchyard.waiting_names() as n (action_name)
    where not exists (
      select from switchyard.worker w
      where w.kind = 'conductor' and w.action_name = n.action_name and w.ended_at is null and w.lost_at is null)
    and exists (
      select from switchyard.yard y
      where y.action_name = n.action_name and y.status in ('PENDING', 'BACKOFF')
        and y.action_uuid < switchyard.uuid_floor(now() - interval '5 minutes')))
  + (select count(*) from going g cross join lateral (
    select c.stuck from switchyard.campaigns c where c.action_uuid = g.action_uuid offset 0) as s where s.stuck) as inbox,
  (select count(*) from going) as campaigns;

-- floor: the smallest id of a moment
select switchyard.uuid_floor(%(at)s) as id;

-- job: one job
select * from switchyard.job where job_id = %(job)s;

-- impatient: a transaction of many callers, which waits only briefly for locks and ends soon
select set_config('lock_timeout', '100ms', true), set_config('statement_timeout', '2s', true);

-- execute: submits a job in the caller's name, if the process is still as it was read
select switchyard.execute_job(%(process)s, %(inputs)s::jsonb, %(idempotency_key)s, %(correlation_id)s, %(callbacks)s::jsonb,
  %(outputs)s::jsonb, %(response)s, %(priority)s::integer, %(lane)s, %(tags)s::text[], %(version)s, %(no_cache)s,
  %(start_after)s::timestamptz, %(after)s::uuid[], %(after_policy)s) as job;

-- ended: whether a job has ended
select exists (select from switchyard.job where job_id = %(job)s and ended_at is not null) as ended;

-- dismiss: cancels an open job, hides one that has ended
select switchyard.dismiss_job(%(job)s, %(reason)s) as changed;

-- inputs: what a job was given
select parameters from switchyard.visible_action where action_uuid = %(job)s and workflow is not null;

-- events: the events of an action after an id
select event_id, event_time, status, run, attempt, source, error, retry_seconds, detail, ignored from switchyard.job_event
where action_uuid = %(action)s and event_id > %(after)s order by event_time, event_id limit %(limit)s;

-- family: an action and all that followed from it
select * from switchyard.family(%(action)s, %(limit)s);

-- graph: the steps of the graph that a job is the whole or a step of
select * from switchyard.graph_of(%(job)s);

-- why: why a job has not ended
select switchyard.job_why(%(job)s) as detail;

-- usual: how long recent jobs of the same process took
select low_seconds, high_seconds from switchyard.job_usual(%(job)s);

-- process: one announced workflow
select workflow, action_name, about, xmin::text as version from switchyard.route where workflow = %(process)s;

-- actions: the newest actions of any kind within bounds
select a.action_uuid, a.created_at, a.action_type, a.action_name, a.workflow, a.callback, a.parent_uuid, a.priority, a.lane,
  a.tags, a.submitted_by, a.correlation_id, t.status, t.run, t.attempt, t.started_at, t.ended_at, t.last_update, t.error, t.note,
  t.needs_review
from switchyard.action a
cross join lateral (select * from switchyard.thread t where t.action_uuid = a.action_uuid offset 0) as t
where a.action_uuid < %(before)s::uuid and (%(name)s::text is null or a.action_name = %(name)s)
order by a.action_uuid desc limit %(limit)s;

-- processes: the workflows that conductors have announced, after a name
select workflow, action_name, about from switchyard.route
where workflow > %(after)s order by workflow limit %(limit)s;

-- journal: the newest entries before an id
select entry_id, entry_time, kind, subject, actor, reason, detail, needs_review from switchyard.journal
where %(before)s::bigint is null or entry_id < %(before)s order by entry_id desc limit %(limit)s;

-- failed_chosen: failed actions of the inbox that match the filters
select t.action_uuid from switchyard.thread t join switchyard.action a using (action_uuid)
where t.needs_review
  and (%(jobs)s::uuid[] is null or t.action_uuid = any(%(jobs)s))
  and (%(name)s::text is null or t.action_name = %(name)s)
  and (%(workflow)s::text is null or a.workflow = %(workflow)s)
  and (%(error)s::text is null or position(lower(%(error)s) in lower(t.error)) > 0)
  and (%(cause)s::text is null or t.cause = %(cause)s)
  and (%(correlation_id)s::text is null or a.correlation_id = %(correlation_id)s)
order by t.action_uuid limit %(limit)s;

-- open_chosen: actions that have not ended and match the filters
select t.action_uuid from switchyard.yard y join switchyard.thread t using (action_uuid) join switchyard.action a using (action_uuid)
where true
  and (%(jobs)s::uuid[] is null or t.action_uuid = any(%(jobs)s))
  and (%(name)s::text is null or t.action_name = %(name)s)
  and (%(workflow)s::text is null or a.workflow = %(workflow)s)
  and (%(error)s::text is null or position(lower(%(error)s) in lower(t.error)) > 0)
  and (%(cause)s::text is null or t.cause = %(cause)s)
  and (%(correlation_id)s::text is null or a.correlation_id = %(correlation_id)s)
order by t.action_uuid limit %(limit)s;

-- transcripts: where the latest HTTP exchanges of a job's callbacks are, those without success first
select f.action_uuid, e.detail
from switchyard.family(%(job)s, 200) f
cross join lateral (
  select e.detail from switchyard.job_event e where e.action_uuid = f.action_uuid and e.detail ? 'transcript'
  order by e.event_time desc, e.event_id desc limit 1) as e
where f.depth = 1 order by f.status = 'SUCCESSFUL', f.action_uuid limit 5;

-- footprints: where the inputs of these jobs are; across the antimeridian, west is more than east
select f.action_uuid as job_id, array[(f.area[1])[0], (f.area[1])[1], coalesce((g.area[0])[0], (f.area[0])[0]), (f.area[0])[1]] as bbox
from switchyard.visible_footprint f left join switchyard.visible_footprint g on g.action_uuid = f.action_uuid and g.part = 2
where f.action_uuid = any(%(jobs)s::uuid[]) and f.part = 1;

-- migrated: whether the database has the view that the pages are built from
select to_regclass('switchyard.job') is not null as migrated;
