-- matching: the filters of the next two queries, which list and decide about the same actions
where (%(name)s::text is null or t.action_name = %(name)s)
  and (%(workflow)s::text is null or a.workflow = %(workflow)s)
  and (%(statuses)s::switchyard.status[] is null or t.status = any(%(statuses)s))
  and (%(error)s::text is null or position(lower(%(error)s) in lower(t.error)) > 0)
  and (%(cause)s::text is null or t.cause = %(cause)s)
  and (%(key)s::text is null or a.idempotency_key = %(key)s)
  and (%(correlation_id)s::text is null or a.correlation_id = %(correlation_id)s)
  and (%(where)s::text is null or a.parameters @@ %(where)s::jsonpath)
  and (%(tags)s::text[] is null or a.tags @> %(tags)s)
  and (%(submitted_by)s::text is null or a.submitted_by = %(submitted_by)s)
  -- Both tables: Postgres does not carry a bound from one to the other, and would open every partition of it.
  and (%(since)s::timestamptz is null or (t.action_uuid >= switchyard.uuid_floor(%(since)s) and a.action_uuid >= switchyard.uuid_floor(%(since)s)))
  and (%(until)s::timestamptz is null or (t.action_uuid < switchyard.uuid_floor(%(until)s) and a.action_uuid < switchyard.uuid_floor(%(until)s)))
  and (%(before)s::uuid is null or (t.action_uuid < %(before)s and a.action_uuid < %(before)s))

-- list: the newest actions that match the filters
select t.action_uuid, t.created_at, t.action_name, a.workflow, t.status, t.run, t.attempt, t.last_update, a.idempotency_key,
  a.correlation_id, t.error, t.note
from switchyard.thread t join switchyard.action a using (action_uuid)
-- include matching
order by t.action_uuid desc limit %(limit)s;

-- chosen: the ids of all actions that match the filters
select t.action_uuid from switchyard.thread t join switchyard.action a using (action_uuid)
-- include matching
order by t.action_uuid limit %(limit)s;

-- oldest: when the first partition begins
select min(starts_at) as oldest from switchyard.partition_span;

-- sample: some actions, to show what was chosen
select t.action_uuid, t.action_name, a.workflow, t.status, t.run, a.idempotency_key, t.error
from switchyard.thread t join switchyard.action a using (action_uuid) where t.action_uuid = any(%(uuids)s) order by t.action_uuid;

-- identified: actions whose id begins or ends with some hexadecimal digits
(select action_uuid from switchyard.thread where action_uuid between %(low)s::uuid and %(high)s::uuid limit 4)
union
(select action_uuid from switchyard.thread where encode(uuid_send(action_uuid), 'hex') like %(end)s limit 4);

-- action: everything about one action
select a.*, t.status, t.run, t.attempt, t.tries, t.next_attempt_after, t.started_at, t.ended_at, t.last_update,
  t.error, t.note, t.needs_review, t.callbacks_due, switchyard.reused(t.action_uuid, t.run) as reused
from switchyard.action a join switchyard.thread t using (action_uuid) where a.action_uuid = %(uuid)s;

-- why: why an action has not ended, and when it may
select switchyard.why_detail(%(uuid)s) as detail;

-- events: the steps of one action, in the order in which they came
select event_id, event_time, status, run, attempt, source, error, retry_seconds, detail, ignored
from switchyard.event where action_uuid = %(uuid)s order by event_time, event_id;

-- family: an action and all that followed from it, parents before children
with recursive family as (
  select a.action_uuid, a.parent_uuid, a.action_name, a.workflow, a.callback, 0 as depth
  from switchyard.action a where a.action_uuid = %(uuid)s
  union all
  select a.action_uuid, a.parent_uuid, a.action_name, a.workflow, a.callback, f.depth + 1
  from family f join switchyard.action a on a.parent_uuid = f.action_uuid and a.action_uuid > f.action_uuid
)
select f.*, t.status, t.run, t.attempt, t.error
from family f join switchyard.thread t using (action_uuid) order by f.depth, f.action_uuid limit %(limit)s;

-- set: how many members an action has, and how they ended; no row for one that has none
select t.* from switchyard.sets s cross join lateral switchyard.tally_of(s.action_uuid) as t where s.action_uuid = %(uuid)s;

-- members: the first members of a graph or campaign, with what each waits for
select m.action_uuid, m.node, m.action_name, m.workflow, t.status, t.run, t.attempt, t.error, m.after, m.after_policy
from switchyard.action m join switchyard.thread t using (action_uuid)
where m.member_of = %(uuid)s and m.action_uuid > %(uuid)s and t.action_uuid > %(uuid)s order by m.action_uuid limit %(limit)s;

-- progress: how far each of these actions is, with the last progress that was reported
select t.action_uuid, t.action_name, a.workflow, t.status, t.run, t.attempt, t.last_update, t.ended_at, t.error, t.note,
  (select e.detail from switchyard.event e where e.action_uuid = t.action_uuid and e.run = t.run
     and e.status = 'INFO' and e.detail ? 'progress' order by e.event_time desc, e.event_id desc limit 1) as detail,
  (select count(*) from switchyard.action c where c.parent_uuid = t.action_uuid and c.action_uuid > t.action_uuid) as callbacks
from switchyard.thread t join switchyard.action a using (action_uuid)
where t.action_uuid = any(%(uuids)s) order by t.action_uuid;

-- newest: the actions that a live view of everything shows: those that are open, and the last to end
select action_uuid from (
  (select y.action_uuid from switchyard.yard y order by y.action_uuid desc limit %(limit)s)
  union
  (select t.action_uuid from switchyard.thread t order by t.action_uuid desc limit %(limit)s)
) as seen order by action_uuid desc limit %(limit)s;

-- inbox: what waits for a decision, oldest first
select i.*, a.idempotency_key, a.correlation_id
from (select * from switchyard.inbox order by since limit %(limit)s) as i left join switchyard.action a using (action_uuid)
order by i.since;

-- inbox_size: how many entries wait for a decision
select count(*) as size from switchyard.inbox;

-- causes: the causes of the failed actions in the inbox, the most frequent first
select * from switchyard.cause order by count desc, cause limit %(limit)s;

-- causes_like: the causes in the inbox that begin with a text
select distinct t.cause from switchyard.thread t where t.needs_review and starts_with(t.cause, %(given)s) order by t.cause limit 4;

-- causes_of: the causes of these actions, and the time by the clock that ends are recorded with
select coalesce(array_agg(distinct t.cause), '{}') as causes, clock_timestamp() as began
from switchyard.thread t where t.action_uuid = any(%(uuids)s) and t.cause is not null;

-- returned: an action that failed with one of these causes since that time, or one of these that waits for its retry with it
(select t.action_uuid, t.cause from switchyard.thread t
 where t.needs_review and t.cause = any(%(causes)s) and t.ended_at >= %(began)s limit 1)
union all
(select t.action_uuid, switchyard.cause_of(t.error) from switchyard.thread t
 where t.action_uuid = any(%(recent)s) and t.status = 'BACKOFF' and switchyard.cause_of(t.error) = any(%(causes)s) limit 1)
limit 1;

-- queue: what has not ended, by action name and status, of the first 500 names
select * from switchyard.queue_shown order by action_name, status;

-- lanes: what is open and in flight in each lane, and what holds it back; those that wait longest first
select * from switchyard.lanes
where (%(name)s::text is null or action_name = %(name)s) and (%(all)s or open > 0)
order by waiting_since nulls last, open desc, action_name, lane limit %(limit)s;

-- fleet: the workers, the running ones first
select * from switchyard.fleet where %(all)s or state <> 'ended' order by state desc, started_at desc;

-- paused: the action names that are held back
select * from switchyard.paused order by action_name;

-- partitions: each stretch of time, and how long those ahead last
select p.*, extract(epoch from p.ends_at - now()) / 86400 as days_ahead from switchyard.partitions p order by starts_at;

-- patiently: no limit of time for what reads the whole ledger
set statement_timeout = 0;

-- verify: every place where an action's state differs from its events
select * from switchyard.verify();
