-- threads: the threads of observed executions, and which of their ends are recorded already
select s.position, t.action_uuid, t.status::text as status, t.run, t.attempt, t.tries, t.lock_id,
  a.action_name, a.workflow, a.correlation_id, 
  -- Filters, descendants, wildcards and lists of selectors may take long to evaluate.
  coalesce(a.callbacks::text ~ '[?*]|[.][.]|\[[^]]*,', false) as slow_callbacks,
  coalesce(s.status = any (known.ends), false) as recorded, known.ends is not null as any_end_recorded
from unnest(%(uuids)s::uuid[], %(runs)s::integer[], %(statuses)s::text[]) with ordinality
  as s (action_uuid, run, status, position)
join switchyard.thread t using (action_uuid)
join switchyard.action a using (action_uuid)
cross join lateral (
  -- The failure of a run that is followed by another is recorded as INFO, a success without a usable output as FAILED.
  select array_agg(coalesce(e.detail ->> 'ended', e.status::text)) as ends from switchyard.event e
  where e.action_uuid = s.action_uuid and e.run = s.run and e.source = 'caboose' and e.detail ? 'archive'
) as known;

-- insert_events: events of executions; the attempt is the thread's, but 0 for a run that is opened
insert into switchyard.event (action_uuid, status, run, attempt, source, error, retry_seconds, detail)
select n.action_uuid, n.status::switchyard.status, n.run, case when n.run > t.run then 0 else t.attempt end,
  'caboose', n.error, n.retry_seconds, n.detail::jsonb
from unnest(%(uuids)s::uuid[], %(statuses)s::text[], %(runs)s::integer[], %(errors)s::text[],
    %(retries)s::double precision[], %(details)s::text[])
  as n (action_uuid, status, run, error, retry_seconds, detail)
join switchyard.thread t using (action_uuid)
order by n.action_uuid
returning action_uuid;

-- lock_free: lock those of these threads that nobody else has locked, until the transaction ends
select action_uuid from switchyard.lock_free_threads(%(uuids)s::uuid[]) as f (action_uuid);

-- open_at: which of these threads, whose rows this transaction has locked, are still open at that run
select t.action_uuid
from unnest(%(uuids)s::uuid[], %(runs)s::integer[]) as n (action_uuid, run)
join switchyard.thread t using (action_uuid)
where t.run = n.run and t.status < 'SUCCESSFUL';

-- callbacks_made: clear callbacks_due in uuid order; whoever gets a row back inserts that thread's callbacks
select made.action_uuid
from (
  select n.action_uuid, switchyard.callbacks_made(n.action_uuid, n.run) as cleared
  from (
    select * from unnest(%(uuids)s::uuid[], %(runs)s::integer[]) as n (action_uuid, run) order by action_uuid
  ) as n
) as made
where made.cleared;

-- ended: recorded ends, with everything that their callbacks may refer to
select t.action_uuid as uuid, t.run, t.status::text as status, t.error, a.action_name, a.workflow, a.priority,
  a.correlation_id, t.started_at, t.ended_at,
  -- A callback's uuid holds this time, and there must be a partition for it. Callbacks that were requested again
  -- have the time of that request, and so new uuids.
  coalesce(
    (select max(e.event_time) from switchyard.event e
     where e.action_uuid = t.action_uuid and e.run = t.run and e.status = 'INFO' and e.detail ? 'call_back'),
    case when exists (
      select from switchyard.partition_span p where p.starts_at <= t.ended_at and t.ended_at < p.ends_at
    ) then t.ended_at else now() end
  ) as callbacks_at,
  -- As text: one document that Python cannot decode must not fail the others.
  a.parameters::text as parameters, a.callbacks::text as own_callbacks
from switchyard.thread t
join switchyard.action a using (action_uuid)
where t.action_uuid = any (%(uuids)s::uuid[]) and t.ended_at is not null;

-- due: a page of ends whose callbacks were not inserted yet, oldest first; without the action names to skip, and
-- without workflows that this configuration does not have
select t.action_uuid as uuid, t.run, t.status::text as status, t.attempt, a.action_name, a.workflow,
  case when t.status = 'SUCCESSFUL' and t.attempt = 0 then switchyard.reused(t.action_uuid, t.run) end as reused
from switchyard.thread t
join switchyard.action a using (action_uuid)
where t.callbacks_due and a.action_name <> all (%(skip)s::text[])
  and (a.workflow is null or a.workflow = any (%(workflows)s::text[]))
  and (t.lock_id & 63) = any (%(buckets)s::bigint[]) and t.action_uuid > %(after)s
order by t.action_uuid
limit %(limit)s;

-- unknown_workflows: workflows of due ends that this configuration does not have
select a.workflow, count(*) as ends
from switchyard.thread t
join switchyard.action a using (action_uuid)
where t.callbacks_due and a.action_name <> all (%(skip)s::text[]) and a.workflow <> all (%(workflows)s::text[])
  and (t.lock_id & 63) = any (%(buckets)s::bigint[])
group by a.workflow order by a.workflow limit 100;

-- insert_callbacks: the actions that follow an end; one that exists already stays as it is
insert into switchyard.action
  (action_uuid, action_type, action_name, workflow, callback, parent_uuid, priority, parameters, correlation_id)
select n.action_uuid, case when n.workflow is null then 'callback' else 'workflow' end, n.action_name, n.workflow,
  n.callback, n.parent_uuid, n.priority, sized.parameters, n.correlation_id
from unnest(%(uuids)s::uuid[], %(names)s::text[], %(workflows)s::text[], %(callbacks)s::text[],
    %(parents)s::uuid[], %(priorities)s::smallint[], %(parameters)s::text[], %(correlation_ids)s::text[])
  as n (action_uuid, action_name, workflow, callback, parent_uuid, priority, parameters, correlation_id)
cross join lateral (
  select case when switchyard.is_within_limits(n.parameters::jsonb) then n.parameters::jsonb else '{}' end
) as sized (parameters)
on conflict do nothing
returning action_uuid, parameters = '{}' as without_parameters;

-- overdue: workflows that a backend has had for longer than their timeout
select y.action_uuid as uuid, y.run, a.workflow, limits.seconds
from switchyard.yard y
join switchyard.thread t using (action_uuid)
join switchyard.action a using (action_uuid)
join unnest(%(workflows)s::text[], %(seconds)s::double precision[]) as limits (workflow, seconds)
  on limits.workflow = a.workflow
where y.status in ('QUEUED', 'RUNNING') and y.action_name <> all (%(skip)s::text[])
  and t.started_at < now() - make_interval(secs => limits.seconds)
  and (y.lock_id & 63) = any (%(buckets)s::bigint[]) and y.action_uuid > %(after)s
order by y.action_uuid
limit %(limit)s;

-- any_handed_over: a row where any backend has anything
select true from switchyard.yard y where y.status in ('QUEUED', 'RUNNING') limit 1;

-- pulse: a heartbeat, whether any backend has anything, and whether callbacks are due; nothing once it was marked lost
with beaten as (
  update switchyard.worker set beat_at = clock_timestamp(), done = %(done)s, failed = %(failed)s, rate = %(rate)s,
    rests = make_interval(secs => %(rests)s)
  where worker_id = %(worker)s and lost_at is null and ended_at is null
  returning worker_id
)
select exists (select from switchyard.yard where status in ('QUEUED', 'RUNNING')),
  exists (select from switchyard.thread where callbacks_due)
from beaten;

-- open_executions: a page of what the backends of these action names have, and how it was handed over
select y.action_uuid as uuid, y.run, y.lock_id, y.action_name, a.workflow,
  extract(epoch from now() - t.last_update)::double precision as silent,
  (
    select e.detail from switchyard.event e
    where e.action_uuid = y.action_uuid and e.run = y.run and e.status = 'QUEUED'
    order by e.event_id desc limit 1
  ) as handover
from switchyard.yard y
join switchyard.thread t using (action_uuid)
join switchyard.action a using (action_uuid)
where y.action_name = any (%(names)s::text[]) and y.status in ('QUEUED', 'RUNNING')
  and y.action_uuid > %(after)s
order by y.action_uuid
limit %(limit)s;

-- try_lead: the lock of the caboose that leads a source, now held by this connection
select pg_try_advisory_lock(1937204082, hashtext(%(name)s)) as leads;

-- try_lock: the advisory locks of these threads that are free, now held by this connection
select l.lock_id from unnest(%(lock_ids)s::bigint[]) as l (lock_id) where pg_try_advisory_lock(l.lock_id);

-- unlock: release them
select switchyard.unlock(%(lock_ids)s::bigint[]);

-- report: add an entry to the inbox, unless the same entry is there already
insert into switchyard.journal (kind, subject, actor, reason, detail, needs_review)
select %(kind)s, %(subject)s, 'caboose', %(reason)s, %(detail)s::jsonb, true
where not exists (
  select from switchyard.journal j
  where j.needs_review and j.kind = %(kind)s and j.subject = %(subject)s
    and j.detail ->> 'key' = %(detail)s::jsonb ->> 'key'
);

-- submit_once: an action, unless its key was used: a second report of one end may differ in its words
select switchyard.submit(action_name => %(action_name)s, parameters => %(parameters)s::jsonb,
  correlation_id => %(correlation_id)s, idempotency_key => %(key)s)
where not exists (
  select from switchyard.idempotency i where i.action_name = %(action_name)s and i.idempotency_key = %(key)s
);

-- resolve: close entries that resolved themselves
select switchyard.notice_over(%(kind)s, %(subject)s, %(reason)s);

-- record_worker: the row of a worker that reports through a queue; rows of other kinds are not its own
insert into switchyard.worker as w (worker_id, kind, action_name, host, done, failed, rate, ended_at)
values (%(worker)s, 'assessment', %(action_name)s, %(host)s, %(done)s, %(failed)s, %(rate)s,
  case when %(ended)s then now() end)
on conflict (worker_id) do update
set beat_at = now(), lost_at = null, action_name = excluded.action_name, done = greatest(w.done, excluded.done),
  failed = greatest(w.failed, excluded.failed), rate = excluded.rate, ended_at = coalesce(w.ended_at, excluded.ended_at)
where w.kind = 'assessment'
returning worker_id;

-- register: the row of a caboose; it counts as started once the row exists
insert into switchyard.worker (worker_id, kind, host, pid, version, config_hash, state)
values (%(worker)s, 'caboose', %(host)s, %(pid)s, %(version)s, %(config_hash)s, %(state)s::jsonb);

-- listen: wake up on a cancel
listen switchyard_caboose;

-- round_trip: whether the connection still works
select 1;
