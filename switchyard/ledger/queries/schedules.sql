-- all: every schedule, by name
select * from switchyard.schedules order by name;

-- one: one schedule
select * from switchyard.schedules where name = %(name)s;

-- now: the server's clock
select now() as now;

-- apply: create or change a schedule
select switchyard.apply_schedule(%(name)s, %(definition)s::jsonb, %(next_at)s::timestamptz, %(revision)s, %(actor)s) as changed;

-- remove: remove a schedule
select switchyard.remove_schedule(%(name)s, %(actor)s, %(reason)s) as changed;

-- pause: fire no more ticks
select switchyard.pause_schedule(%(name)s, %(actor)s, %(reason)s) as changed;

-- resume: fire again, from the next tick on
select switchyard.resume_schedule(%(name)s, %(revision)s, %(next_at)s::timestamptz, %(actor)s, %(reason)s) as changed;

-- trigger: submit the action of a schedule now
select switchyard.trigger_schedule(%(name)s, %(actor)s, %(reason)s) as action_uuid;

-- backfill: submit the actions of ticks that have passed
select switchyard.backfill_schedule(%(name)s, %(ticks)s::timestamptz[], %(actor)s, %(reason)s) as submitted;

-- ticks: what became of the last ticks of a schedule
select t.tick_at, t.outcome, t.action_uuid, th.status::text as status
from switchyard.schedule_tick t left join switchyard.thread th using (action_uuid)
where t.name = %(name)s order by t.tick_at desc limit %(limit)s;

-- due: the schedules whose next tick has passed, by the server's clock, except those that are set aside
select s.name, s.revision, s.cron, s.every, s.timezone, s.catch_up, s.catch_up_window, s.starts_at, s.ends_at, s.next_at, now()
from switchyard.schedule s where s.paused_at is null and s.next_at <= now()
  and (s.name, s.revision) <> all (select * from unnest(%(names)s::text[], %(revisions)s::integer[]));

-- tick: fire ticks of a schedule and move it on; null where another conductor was first
select switchyard.tick(%(name)s, %(revision)s, %(expected)s::timestamptz, %(fire)s::timestamptz[], %(next_at)s::timestamptz, %(missed)s);

-- queued: schedules with a queued tick whose last action has ended, except those that are set aside
select distinct s.name, s.revision from switchyard.schedule_tick t join switchyard.schedule s using (name)
where t.outcome = 'queued' and s.paused_at is null
  and (s.name, s.revision) <> all (select * from unnest(%(names)s::text[], %(revisions)s::integer[]))
  and not exists (select from switchyard.yard y where y.action_uuid = any (s.recent));

-- release: submit the oldest queued tick of a schedule
select switchyard.release_tick(%(name)s);

-- pending: seconds until the next tick of what is not set aside, how many schedules are late by more than a minute,
-- whether a tick is queued
select extract(epoch from min(s.next_at) filter (where (s.name, s.revision) <> all (
    select * from unnest(%(names)s::text[], %(revisions)s::integer[]))) - clock_timestamp())::double precision,
  count(*) filter (where s.next_at < now() - interval '1 minute'),
  exists (select from switchyard.schedule_tick t where t.outcome = 'queued')
from switchyard.schedule s where s.paused_at is null and s.next_at is not null;
