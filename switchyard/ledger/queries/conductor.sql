-- claim: lock and return what is processable, and say when to look again
select uuids, runs, attempts, lock_ids, skipped,
  extract(epoch from next_due - clock_timestamp())::double precision as due_in, false as held_back, null::text[] as lanes
from switchyard.claim(%(name)s, %(wanted)s, %(held)s);

-- lane_claim: the same of a flow, within its limits and in fair turns
select uuids, runs, attempts, lock_ids, limited,
  extract(epoch from next_due - clock_timestamp())::double precision as due_in, held_back, lanes
from switchyard.lane_claim(%(flow)s, %(wanted)s, %(held)s, %(slowed)s::text[], %(factors)s::double precision[]);

-- claim_one: lock and return the action that a bell named; without a lock where there is nothing to do
select skipped, lock_id, run, attempt, workflow, callback, parent_uuid::text, parameters, correlation_id, created_at, resumes
from switchyard.claim_one(%(name)s, %(uuid)s);

-- claim_orphans: lock and return what a dead conductor left RUNNING, for at_most_once
select coalesce(array_agg(action_uuid), '{}'), coalesce(array_agg(run), '{}'), coalesce(array_agg(attempt), '{}'),
  coalesce(array_agg(lock_id), '{}')
from switchyard.claim_orphans(%(name)s, %(wanted)s, %(held)s);

-- claim_described: claim, and with it what a handler needs to know of each, in no order
select c.uuids, c.runs, c.attempts, c.lock_ids, c.skipped,
  extract(epoch from c.next_due - clock_timestamp())::double precision as due_in, false as held_back, null::text[] as lanes,
  d.uuids, d.workflows, d.callbacks, d.parents, d.parameters, d.correlations, d.created, d.resumed
from switchyard.claim(%(name)s, %(wanted)s, %(held)s) as c, switchyard.describe(c.uuids, c.runs) as d;

-- lane_claim_described: the same of a flow
select c.uuids, c.runs, c.attempts, c.lock_ids, c.limited,
  extract(epoch from c.next_due - clock_timestamp())::double precision as due_in, c.held_back, c.lanes,
  d.uuids, d.workflows, d.callbacks, d.parents, d.parameters, d.correlations, d.created, d.resumed
from switchyard.lane_claim(%(flow)s, %(wanted)s, %(held)s, %(slowed)s::text[], %(factors)s::double precision[]) as c,
  switchyard.describe(c.uuids, c.runs) as d;

-- describe: what a handler needs to know of claimed actions, in no order
select d.uuids, d.workflows, d.callbacks, d.parents, d.parameters, d.correlations, d.created, d.resumed
from switchyard.describe(%(uuids)s, %(runs)s) as d;

-- write: one event for each of many dispatches
insert into switchyard.event (action_uuid, status, run, attempt, source, error, retry_seconds, detail)
select s.action_uuid, s.status::switchyard.status, s.run, s.attempt, 'conductor', s.error, s.retry_seconds, s.detail::jsonb
from unnest(%(uuids)s::uuid[], %(statuses)s::text[], %(runs)s::integer[], %(attempts)s::integer[],
  %(errors)s::text[], %(retries)s::double precision[], %(details)s::text[])
  as s (action_uuid, status, run, attempt, error, retry_seconds, detail);

-- write_batch: the same event for every dispatch of a batch; the attempts are those before it
insert into switchyard.event (action_uuid, status, run, attempt, source, error, retry_seconds, detail)
select c.action_uuid, %(status)s::switchyard.status, c.run, c.attempt + 1, 'conductor', %(error)s::text,
  %(retry_seconds)s::double precision, %(detail)s::jsonb
from unnest(%(uuids)s::uuid[], %(runs)s::integer[], %(attempts)s::integer[]) as c (action_uuid, run, attempt);

-- running_now: those of many dispatches whose RUNNING took effect, at exactly this run and attempt
select coalesce(array_agg(y.action_uuid), '{}')
from unnest(%(uuids)s::uuid[], %(runs)s::integer[], %(attempts)s::integer[]) as r (action_uuid, run, attempt)
join switchyard.yard y using (action_uuid, run, attempt) where y.status = 'RUNNING';

-- refusals: how many dispatches of each of these runs the other side refused for lack of room
select e.action_uuid, count(*)::integer
from unnest(%(uuids)s::uuid[], %(runs)s::integer[]) as r (action_uuid, run) join switchyard.event e using (action_uuid, run)
where e.status = 'BACKOFF' and e.detail @> '{"refused": true}' group by e.action_uuid;

-- free_rows: those whose rows nobody else holds now, found without waiting; what is gone is held by nobody
select array(select f from switchyard.lock_free_threads(%(uuids)s) as f) || array(
  select u from unnest(%(uuids)s::uuid[]) as u
  where not exists (select from switchyard.thread t where t.action_uuid = u));

-- forget_gone: those whose threads no longer exist; what is left of them in the yard is deleted
select switchyard.forget_gone(%(uuids)s);

-- unlock: give the locks of settled dispatches back
select switchyard.unlock(%(locks)s);

-- release: give the locks of unfinished dispatches back
select switchyard.release(%(locks)s);

-- name_bell: say which bell the next statement listens to, for LISTEN takes no parameters
select set_config('switchyard.bell', switchyard.bell_channel(%(name)s), false);

-- listen: be notified by the bell of that name
do $$ begin execute format('listen %I', current_setting('switchyard.bell')); end $$;

-- listen_for_changes: notified of every change of a schedule, and of every new waiter
listen switchyard_maintenance;

-- arm: ask writers to ring; false while writers are in flight or a peer is armed
select pg_try_advisory_lock(1937204078, switchyard.bell_key(%(name)s));

-- disarm: awake again
select pg_advisory_unlock(1937204078, switchyard.bell_key(%(name)s));

-- ring: wake the peers, armed or not
select pg_notify(switchyard.bell_channel(%(name)s), '');

-- due_names: those of the names that have something to do that nobody holds
select coalesce(array_agg(n), '{}') from switchyard.due_names(%(names)s::text[]) as n;

-- left_running: those of the names that have an action RUNNING whose lock nobody holds: its conductor died
select coalesce(array_agg(n), '{}') from unnest(%(names)s::text[]) as n where exists (
  select from switchyard.yard y where y.action_name = n and y.status = 'RUNNING' and y.lock_id not in (
    select (l.classid::bigint << 32) | l.objid::bigint from pg_locks l
    where l.locktype = 'advisory' and l.objsubid = 1
      and l.database = (select d.oid from pg_database d where d.datname = current_database())));

-- beat_parked: workers without a connection are still there
update switchyard.worker set beat_at = clock_timestamp()
where worker_id = any (%(workers)s::uuid[]) and lost_at is null and ended_at is null;

-- pulse: heartbeats of the workers that rest; who is alive, and which of their names and which loops have something to do
with beaten as (
  update switchyard.worker set beat_at = clock_timestamp()
  where worker_id = any (%(workers)s::uuid[]) and lost_at is null and ended_at is null
  returning worker_id
), due as (
  select n from switchyard.due_names(%(names)s::text[]) as n
  union select n from unnest(%(alone)s::text[]) as n
  where exists (select from switchyard.yard y where y.action_name = n and y.status = 'RUNNING')
)
select array(select worker_id from beaten), array(select n from due),
  array_remove(array[
    case when exists (select from switchyard.waiting) or exists (select from switchyard.sets where not settled)
      or exists (select from switchyard.reuse where role in ('seeks', 'leads')) then 'joins' end,
    case when exists (select from switchyard.schedule) then 'schedules' end,
    case when exists (select from switchyard.schedule) or exists (select from switchyard.sets where not settled) then 'overdue' end,
    case when exists (select from switchyard.yard) then 'queue depth' end,
    case when exists (select from switchyard.paused) then 'pauses' end,
    case when exists (select from switchyard.yard where status = 'BACKOFF') then 'clock' end,
    case when exists (select from switchyard.thread where needs_review) then 'causes' end], null);

-- take_tokens: from the bucket that the fleet shares
select taken, wait_seconds
from switchyard.take_tokens(%(name)s, %(rate)s::double precision, %(burst)s::double precision, %(wanted)s);

-- give_tokens: back to the bucket that the fleet shares
select switchyard.give_tokens(%(name)s, %(burst)s::double precision, %(tokens)s);

-- ping: a round trip
select 1;

-- register: a row for this worker; the slots it may use of those it wants
select worker_id, slots from switchyard.register_worker(
  %(kind)s, %(name)s, %(host)s, %(zone)s, %(pid)s, %(version)s, %(config_hash)s, %(slots)s);

-- causes: how many causes the failures in the inbox have, by trend
select c.trend, count(*) from switchyard.cause c group by c.trend;

-- missed: every schedule, and whether it missed ticks within the last hour
select s.name, coalesce(s.missed_at > now() - interval '1 hour', false)::integer from switchyard.schedule s;

-- campaigns: how many have not ended, by state
select case when c.stuck then 'stuck' when c.paused_at is not null then 'paused' else 'running' end, count(*)
from switchyard.campaigns c
where c.ended_at is null and c.action_uuid = any (array(select s.action_uuid from switchyard.sets s where not s.settled)) group by 1;

-- forget_activity: what is older than a day
delete from switchyard.activity where minute < clock_timestamp() - interval '1 day';

-- pause_where_lost: pause the names that lose too many of their workers
select action_name, lost, started
from switchyard.pause_where_lost(%(ratio)s::double precision, %(least)s, make_interval(secs => %(within)s));

-- forget_workers: rows that ended or were lost long ago
delete from switchyard.worker w
where coalesce(w.ended_at, w.lost_at) < clock_timestamp() - make_interval(secs => %(keep)s);

-- correct_backoff: retries that were recorded while the server's clock was ahead, and whether anything waits for a retry
select switchyard.correct_backoff(%(limit)s), exists (select from switchyard.yard where status = 'BACKOFF');

-- end_unserved: end what has waited for too long under names that nobody serves
select action_name, ended
from switchyard.end_unserved(%(names)s::text[], make_interval(secs => %(after)s), %(limit)s);

-- queue: depth and age for the metrics, of the first 500 names
select action_name, status::text, depth, extract(epoch from clock_timestamp() - oldest)::double precision
from switchyard.queue_shown;

-- paused: the names that nothing is claimed of, who paused them and why
select action_name, actor, reason from switchyard.paused;

-- ensure_partitions: make what is missing ahead
select count(*) from switchyard.ensure_partitions(%(days)s, %(interval)s);

-- old_partitions: stretches of time whose retention has passed, and the server's time
select coalesce(array_agg(p.suffix order by p.starts_at), '{}'), extract(epoch from now())::double precision
from switchyard.partition_span p where p.ends_at <= now() - make_interval(secs => %(retention)s);

-- drop_partition: one stretch; why it was left alone, or null
select switchyard.drop_partition(%(suffix)s);

-- days_ahead: how long the partitions still last
select extract(epoch from max(p.ends_at) - now())::double precision / 86400 from switchyard.partition_span p;

-- announce: the action name that runs each workflow; a description beyond the limits is left out, and the others announced
insert into switchyard.route (workflow, action_name, about, reuse)
select r.workflow, r.action_name, case when switchyard.is_within_limits(r.about::jsonb) then r.about::jsonb end, r.reuse::jsonb
from unnest(%(workflows)s::text[], %(names)s::text[], %(about)s::text[], %(reuse)s::text[]) as r (workflow, action_name, about, reuse)
on conflict (workflow) do update set action_name = excluded.action_name, about = excluded.about, reuse = excluded.reuse
where (route.action_name, route.about, route.reuse) is distinct from (excluded.action_name, excluded.about, excluded.reuse);

-- announce_flows: the lanes and limits of the names that are served
select switchyard.announce_flows(%(flows)s::jsonb);

-- withdraw_flows: those that the configuration lacks, while all conductors have the same one
select switchyard.withdraw_flows(%(flows)s::text[])
where not exists (
  select from switchyard.worker w
  where w.kind = 'conductor' and w.ended_at is null and w.lost_at is null and w.config_hash <> %(config_hash)s);

-- lanes: how many lanes of each flow are in which state
select f.action_name, f.flow, l.state, count(*)
from switchyard.flow f join switchyard.lane l using (flow) group by f.action_name, f.flow, l.state;

-- in_flight: what is in flight in all lanes of each flow
select f.action_name, f.flow, sum(l.in_flight)::bigint
from switchyard.flow f join switchyard.lane l using (flow) group by f.action_name, f.flow;

-- withdraw: workflows that the configuration lacks, while all conductors have the same one
delete from switchyard.route r
where r.workflow <> all (%(workflows)s::text[])
  and not exists (
    select from switchyard.worker w
    where w.kind = 'conductor' and w.ended_at is null and w.lost_at is null and w.config_hash <> %(config_hash)s);
