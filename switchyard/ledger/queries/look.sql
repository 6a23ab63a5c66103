-- list: the newest actions that match the filters
select t.action_uuid, t.created_at, t.action_name, a.workflow, t.status, t.run, t.attempt, t.last_update, a.idempotency_key,
  a.correlation_id, t.error, t.note
from switchyard.thread t join switchyard.action a using (action_uuid)
where (%(name)s::text is null or t.action_name = %(name)s)
  and (%(workflow)s::text is null or a.workflow = %(workflow)s)
  and (%(statuses)s::switchyard.status[] is null or t.status = any(%(statuses)s))
  and (%(error)s::text is null or position(lower(%(error)s) in lower(t.error)) > 0)
  and (%(key)s::text is null or a.idempotency_key = %(key)s)
  and (%(correlation_id)s::text is null or a.correlation_id = %(correlation_id)s)
  and (%(since)s::timestamptz is null or t.action_uuid >= switchyard.uuid_floor(%(since)s))
  and (%(until)s::timestamptz is null or t.action_uuid < switchyard.uuid_floor(%(until)s))
order by t.action_uuid desc limit %(limit)s;

-- chosen: the ids of all actions that match the filters
select t.action_uuid from switchyard.thread t join switchyard.action a using (action_uuid)
where (%(name)s::text is null or t.action_name = %(name)s)
  and (%(workflow)s::text is null or a.workflow = %(workflow)s)
  and (%(statuses)s::switchyard.status[] is null or t.status = any(%(statuses)s))
  and (%(error)s::text is null or position(lower(%(error)s) in lower(t.error)) > 0)
  and (%(key)s::text is null or a.idempotency_key = %(key)s)
  and (%(correlation_id)s::text is null or a.correlation_id = %(correlation_id)s)
  and (%(since)s::timestamptz is null or t.action_uuid >= switchyard.uuid_floor(%(since)s))
  and (%(until)s::timestamptz is null or t.action_uuid < switchyard.uuid_floor(%(until)s))
order by t.action_uuid limit %(limit)s;

-- sample: some actions, to show what was chosen
select t.action_uuid, t.action_name, a.workflow, t.status, t.run, a.idempotency_key, t.error
from switchyard.thread t join switchyard.action a using (action_uuid) where t.action_uuid = any(%(uuids)s) order by t.action_uuid;

-- identified: actions whose id begins or ends with some hexadecimal digits
(select action_uuid from switchyard.thread where action_uuid between %(low)s::uuid and %(high)s::uuid limit 4)
union
(select action_uuid from switchyard.thread where encode(uuid_send(action_uuid), 'hex') like %(end)s limit 4);

-- action: everything about one action
select a.*, t.status, t.run, t.attempt, t.tries, t.next_attempt_after, t.started_at, t.ended_at, t.last_update,
  t.error, t.note, t.needs_review, t.callbacks_due
from switchyard.action a join switchyard.thread t using (action_uuid) where a.action_uuid = %(uuid)s;

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

-- queue: what has not ended, by action name and status
select * from switchyard.queue order by action_name, status;

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
