-- Views for people.
create or replace view switchyard.unserved as
select n.action_name, count(*) as waiting, min(switchyard.uuid_time(y.action_uuid)) as oldest
from switchyard.waiting_names() as n (action_name) join switchyard.yard y using (action_name)
where y.status in ('PENDING', 'BACKOFF') and not exists (
  select from switchyard.worker w
  where w.kind = 'conductor' and w.action_name = n.action_name and w.ended_at is null and w.lost_at is null)
group by n.action_name;
comment on view switchyard.unserved is 'The action names that actions wait under and no conductor serves.';

create or replace view switchyard.campaigns as
select c.name, c.action_uuid, c.workflow, c.action_name, h.status, c.source, c.in_flight, c.priority, c.lane, c.items, c.complete,
  c.items - t.added as waiting, t.open, t.successful, t.unsuccessful, c.repeated, c.rejected, c.source_error, c.started_by, h.created_at,
  h.ended_at, c.paused_at, c.paused_by, c.paused_because, h.note, r.per_second, r.last_progress,
  case when h.ended_at is null and r.per_second > 0 then (c.items - t.successful - t.unsuccessful) / r.per_second end as seconds_left,
  h.ended_at is null and c.paused_at is null and greatest(r.last_progress, h.last_update) < now() - interval '1 hour' as stuck
from switchyard.campaign c
cross join lateral (select * from switchyard.thread x where x.action_uuid = c.action_uuid offset 0) as h
cross join lateral switchyard.tally_of(c.action_uuid) as t
cross join lateral (
  select coalesce(sum(y.n) filter (where y.status >= 'SUCCESSFUL' and y.n > 0 and y.at > now() - interval '5 minutes'), 0)::double precision
      / greatest(1, least(300, extract(epoch from now() - h.created_at)::double precision)) as per_second,
    max(y.at) as last_progress
  from switchyard.tally y where y.set_uuid = c.action_uuid) as r;
comment on view switchyard.campaigns is 'The campaigns, how far each is, its rate of the last minutes and what that leaves.';

create or replace view switchyard.inbox as
select t.last_update as since, 'thread' as kind, t.action_uuid, null::bigint as entry_id, t.action_name as subject,
  t.status::text as status, t.run, t.attempt, t.error, t.note, t.cause
from switchyard.thread t where t.needs_review
union all
select j.entry_time, j.kind, null, j.entry_id, j.subject, null, null, null, j.reason, j.detail ->> 'note', null
from switchyard.journal j where j.needs_review
union all
-- Not at once: a conductor may be starting.
select u.oldest, 'unserved', null, null, u.action_name, null, null, null,
  format('%s actions wait, and no conductor serves this action name', u.waiting), null, null
from switchyard.unserved u where u.oldest < now() - interval '5 minutes'
union all
select greatest(c.last_progress, c.created_at), 'campaign_stuck', null, null, c.name, null, null, null,
  format('nothing of it was submitted or ended for an hour: %s open, %s wait', c.open, c.waiting), null, null
from switchyard.campaigns c where c.stuck;
comment on view switchyard.inbox is 'All that waits for a person: failed actions, lost workers, messages that nobody could read, action names that nobody serves, campaigns that are stuck.';

create or replace view switchyard.queue as
select y.action_name, y.status, count(*) as depth, min(switchyard.uuid_time(y.action_uuid)) as oldest,
  count(*) filter (where y.status in ('PENDING', 'BACKOFF') and (y.due is null or y.due <= now())) as processable,
  min(y.due) filter (where y.due > now() and y.due < 'infinity') as next_due, p.paused_at is not null as paused
from switchyard.yard y left join switchyard.paused p using (action_name)
group by y.action_name, y.status, p.paused_at;
comment on view switchyard.queue is 'What has not ended, by action name and status: how many, since when, how many could be claimed now.';

-- A submitter may use thousands of names: pages and metrics must not grow with them.
create or replace view switchyard.queue_shown as
with q as materialized (select * from switchyard.queue), names as (
  select q.action_name from q group by q.action_name
  order by exists (
    select from switchyard.worker w
    where w.kind = 'conductor' and w.action_name = q.action_name and w.ended_at is null and w.lost_at is null) desc, sum(q.depth) desc
  limit 500)
select q.* from q where q.action_name in (select n.action_name from names n);
comment on view switchyard.queue_shown is 'The queue of at most 500 action names: those that conductors serve first, then those with the most actions.';

create or replace view switchyard.fleet as
select w.worker_id, w.kind, w.action_name, w.host, w.zone, w.pid, w.version, w.started_at, w.beat_at, w.ended_at, w.lost_at,
  case when w.ended_at is not null then 'ended' when w.lost_at is not null then 'lost' else 'running' end as state,
  w.done, w.failed, w.rate, w.slots, w.config_hash, w.state as detail
from switchyard.worker w;
comment on view switchyard.fleet is 'The workers of all programs.';

create or replace view switchyard.lanes as
select f.action_name, f.workflow, nullif(l.lane, '') as lane,
  coalesce(o.open, 0) as open,
  l.in_flight, coalesce(f.lane_in_flight, f.lane_running) as max_in_flight, f.lane_rate as rate, l.factor as breaker, l.weight,
  l.state,
  l.since as waiting_since, l.next_at
from switchyard.flow f join switchyard.lane l using (flow)
-- Counted once for all lanes: for each by itself, a thousand lanes would read the whole queue a thousand times.
left join (select y.flow, y.lane, count(*) as open from switchyard.yard y where y.flow is not null group by y.flow, y.lane) as o using (flow, lane);
comment on view switchyard.lanes is 'The lanes of action names and workflows that have lanes or limits: what is open and in flight, and what holds each back.';
