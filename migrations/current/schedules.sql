-- Schedules. A conductor reads the schedules that are due, computes the times, and calls tick: lock the row, compare, submit, advance, in
-- one transaction. Any number of conductors may do so at once; all but the first find a different next_at and do nothing.

create or replace function switchyard.locked_schedule(name text) returns switchyard.schedule
language plpgsql as $$
declare
  s switchyard.schedule;
begin
  select * into s from switchyard.schedule x where x.name = locked_schedule.name for update;
  if not found then
    raise exception 'schedule: there is no schedule %', name using errcode = 'no_data_found';
  end if;
  return s;
end
$$;
comment on function switchyard.locked_schedule is 'The schedule under its row lock; an error where there is none.';

-- The offset is the same at every tick: schedules that share a time are spread, and the interval between the ticks of each is unchanged.
create or replace function switchyard.submit_tick(s switchyard.schedule, tick_at timestamptz) returns uuid
language plpgsql as $$
declare
  start_after timestamptz := tick_at
    + make_interval(secs => s.jitter * (hashtextextended(s.name, 0) & 2147483647)::double precision / 2147483648);
  tick_time text := to_char(tick_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
begin
  return switchyard.submit(
    coalesce((select r.action_name from switchyard.route r where r.workflow = s.workflow), s.action_name),
    s.parameters || case when s.time_parameter is null then '{}' else jsonb_build_object(s.time_parameter, tick_time) end,
    workflow => s.workflow, priority => s.priority, correlation_id => format('schedule %s %s', s.name, tick_time),
    start_after => case when start_after > now() then start_after end, lane => s.lane);
end
$$;
comment on function switchyard.submit_tick is 'Submits the action of that tick.';

create or replace function switchyard.open_of(s switchyard.schedule) returns uuid[]
language sql stable as $$
  select coalesce(array_agg(y.action_uuid), '{}') from switchyard.yard y where y.action_uuid = any (s.recent)
$$;
comment on function switchyard.open_of is 'The actions of that schedule that have not ended; those of a backfill do not count.';

-- How a tick is handled while an earlier action is open. A queue of more than 100 would never be worked off, so further ticks are skipped.
create or replace function switchyard.tick_outcome(s switchyard.schedule, open uuid[]) returns text
language sql stable as $$
  select case
    when s.overlap = 'queue' and exists (
      select from switchyard.schedule_tick t where t.name = s.name and t.outcome = 'queued' offset 99) then 'skipped'
    when s.overlap = 'queue' and (cardinality(open) > 0 or exists (
      select from switchyard.schedule_tick t where t.name = s.name and t.outcome = 'queued')) then 'queued'
    when s.overlap = 'skip' and cardinality(open) > 0 then 'skipped'
    else 'fired' end
$$;
comment on function switchyard.tick_outcome is 'fired, skipped or queued, as the overlap of the schedule decides.';

-- One tick, once: the transaction that inserts its row decides it. The action is added to recent, which the caller writes.
create or replace function switchyard.decide_tick(inout s switchyard.schedule, tick_at timestamptz)
language plpgsql as $$
declare
  open uuid[] := switchyard.open_of(s);
  outcome text := switchyard.tick_outcome(s, open);
  made uuid;
begin
  perform from switchyard.schedule_tick t where t.name = s.name and t.tick_at = decide_tick.tick_at;
  if found or tick_at <= s.last_at then
    return;
  end if;
  if outcome = 'fired' then
    if s.overlap = 'replace' then
      perform switchyard.cancel(o, format('schedule %s', s.name), format('replaced by the tick of %s', tick_at)) from unnest(open) as o;
    end if;
    made := switchyard.submit_tick(s, tick_at);
    s.recent := open || made;
    s.fired := s.fired + 1;
  elsif outcome = 'skipped' then
    s.skipped := s.skipped + 1;
  end if;
  insert into switchyard.schedule_tick (name, tick_at, outcome, action_uuid) values (s.name, tick_at, outcome, made);
end
$$;
comment on function switchyard.decide_tick is 'Submits, skips or queues one tick; does nothing where it was decided before.';

-- A long outage is processed in several calls, but is one entry: a call that begins where the entry ends continues it.
-- If the last missed tick has fired, there is nothing to decide.
create or replace function switchyard.report_missed(
  s switchyard.schedule, began timestamptz, reached timestamptz, missed bigint, fired bigint
) returns void language plpgsql as $$
declare
  entry bigint;
  before jsonb;
begin
  select j.entry_id, j.detail into entry, before from switchyard.journal j
  where j.needs_review and j.kind = 'missed_ticks' and j.subject = s.name and j.detail -> 'until' = to_jsonb(began)
    and j.detail @@ '$.missed >= 0 && $.missed < 1e15 && $.fired >= 0 && $.fired < 1e15' -- others cannot be added to
  order by j.entry_id desc limit 1 for update skip locked;
  if found then
    missed := missed + (before ->> 'missed')::bigint;
    fired := fired + (before ->> 'fired')::bigint;
  else
    insert into switchyard.journal (kind, subject) values ('missed_ticks', s.name) returning entry_id into entry;
  end if;
  update switchyard.journal j set
    reason = format('%s ticks from %s on did not fire (catch_up: %s)', missed, coalesce(before ->> 'from', began::text), s.catch_up),
    detail = jsonb_build_object('missed', missed, 'from', coalesce(before -> 'from', to_jsonb(began)), 'until', reached, 'fired', fired),
    needs_review = not (s.catch_up = 'last' and fired > 0)
  where j.entry_id = entry;
end
$$;
comment on function switchyard.report_missed is 'Reports ticks that did not fire, in one entry for each outage.';

create or replace function switchyard.tick(
  name text, revision integer, expected_next_at timestamptz, fire timestamptz[], next_at timestamptz, missed integer default 0
) returns integer language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  s switchyard.schedule;
  before bigint;
  t timestamptz;
begin
  -- Where somebody holds the row, this schedule is late and no other.
  select * into s from switchyard.schedule x where x.name = tick.name for update skip locked;
  if s.revision is distinct from tick.revision or s.next_at is distinct from expected_next_at or s.paused_at is not null or s.next_at > now() then
    return null; -- another conductor is at it or was first, or it is another schedule by now
  end if;
  if next_at <= expected_next_at or cardinality(fire) > 1000 or missed < 0
    or exists (select from unnest(fire) as f where f is null or f < expected_next_at or f >= next_at or f > now()) then
    raise exception 'tick: the times of % do not fit together', name using errcode = 'invalid_parameter_value';
  end if;
  before := s.fired;
  for t in select f from unnest(fire) as f order by f loop
    s := switchyard.decide_tick(s, t);
  end loop;
  update switchyard.schedule x set next_at = tick.next_at, recent = s.recent, fired = s.fired, skipped = s.skipped,
    missed = s.missed + tick.missed, missed_at = case when tick.missed > 0 then now() else s.missed_at end,
    last_at = greatest(s.last_at, (select max(f) from unnest(fire) as f))
  where x.name = tick.name;
  if missed > 0 then
    perform switchyard.report_missed(s, expected_next_at, next_at, missed, s.fired - before);
  end if;
  return s.fired - before;
end
$$;
comment on function switchyard.tick is 'Fires those ticks of a schedule and moves it on; the number of actions submitted, or null where somebody else was first.';

create or replace function switchyard.release_tick(name text) returns uuid
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  s switchyard.schedule;
  oldest timestamptz;
  made uuid;
begin
  select * into s from switchyard.schedule x where x.name = release_tick.name for update skip locked;
  select t.tick_at into oldest from switchyard.schedule_tick t where t.name = s.name and t.outcome = 'queued' order by t.tick_at limit 1;
  if oldest is null or s.paused_at is not null or cardinality(switchyard.open_of(s)) > 0 then
    return null;
  end if;
  made := switchyard.submit_tick(s, oldest);
  update switchyard.schedule_tick t set outcome = 'fired', action_uuid = made where t.name = s.name and t.tick_at = oldest;
  update switchyard.schedule x set recent = array[made], fired = x.fired + 1 where x.name = s.name;
  return made;
end
$$;
comment on function switchyard.release_tick is 'Submits the oldest queued tick of a schedule once its last action has ended; null where there is none.';

-- If the definition is the same, nothing changes. The next tick was computed from the row of that revision (0: no row).
create or replace function switchyard.apply_schedule(
  name text, definition jsonb, next_at timestamptz, expected_revision integer, actor text
) returns boolean language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  old switchyard.schedule;
  wanted switchyard.schedule;
begin
  insert into switchyard.schedule (name, next_at, action_name, workflow, parameters, time_parameter, priority, lane, cron, every, timezone,
    overlap, catch_up, catch_up_window, jitter, starts_at, ends_at)
  select apply_schedule.name, apply_schedule.next_at, d.action_name, d.workflow, d.parameters, d.time_parameter, d.priority, d.lane, d.cron,
    d.every, d.timezone, d.overlap, d.catch_up, d.catch_up_window, d.jitter, d.starts_at, d.ends_at
  from jsonb_populate_record(null::switchyard.schedule, definition) as d
  on conflict do nothing;
  if not found then
    old := switchyard.locked_schedule(name);
    wanted := jsonb_populate_record(old, definition);
    if wanted = old then
      return false;
    elsif old.revision <> expected_revision then
      raise exception 'schedule: % was changed meanwhile, try again', name using errcode = 'serialization_failure';
    end if;
    update switchyard.schedule x set revision = old.revision + 1, action_name = wanted.action_name, workflow = wanted.workflow,
      parameters = wanted.parameters, time_parameter = wanted.time_parameter, priority = wanted.priority, lane = wanted.lane, cron = wanted.cron,
      every = wanted.every, timezone = wanted.timezone, overlap = wanted.overlap, catch_up = wanted.catch_up,
      catch_up_window = wanted.catch_up_window, jitter = wanted.jitter, starts_at = wanted.starts_at, ends_at = wanted.ends_at,
      next_at = apply_schedule.next_at
    where x.name = apply_schedule.name;
  elsif expected_revision <> 0 then
    raise exception 'schedule: % was removed meanwhile, try again', name using errcode = 'serialization_failure';
  end if;
  insert into switchyard.journal (kind, subject, actor, reason, detail)
  values ('schedule', name, switchyard.named('actor', actor), 'applied', definition);
  return true;
end
$$;
comment on function switchyard.apply_schedule is 'Creates or changes a schedule; false where it has that definition already.';

create or replace function switchyard.remove_schedule(name text, actor text, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
begin
  delete from switchyard.schedule x where x.name = remove_schedule.name;
  if not found then
    return false;
  end if;
  delete from switchyard.schedule_tick t where t.name = remove_schedule.name and t.outcome = 'queued';
  insert into switchyard.journal (kind, subject, actor, reason)
  values ('schedule', name, switchyard.named('actor', actor), 'removed: ' || switchyard.named('reason', reason));
  return true;
end
$$;
comment on function switchyard.remove_schedule is 'Removes a schedule; what it has fired is remembered, and would not fire again.';

create or replace function switchyard.pause_schedule(name text, actor text, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  s switchyard.schedule := switchyard.locked_schedule(name);
begin
  if s.paused_at is not null then
    return false;
  end if;
  update switchyard.schedule x set paused_at = now(), paused_by = switchyard.named('actor', actor), paused_because = switchyard.named('reason', reason)
  where x.name = s.name;
  insert into switchyard.journal (kind, subject, actor, reason) values ('pause_schedule', name, actor, reason);
  return true;
end
$$;
comment on function switchyard.pause_schedule is 'The schedule fires no more; false where it was paused already.';

-- Ticks during a pause do not count as missed, because the pause was a decision. So the next one is after now.
create or replace function switchyard.resume_schedule(name text, revision integer, next_at timestamptz, actor text, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  s switchyard.schedule := switchyard.locked_schedule(name);
begin
  perform switchyard.named('actor', actor), switchyard.named('reason', reason);
  if s.paused_at is null then
    return false;
  elsif s.revision <> resume_schedule.revision then
    raise exception 'schedule: % was changed meanwhile, try again', name using errcode = 'serialization_failure';
  end if;
  update switchyard.schedule x set paused_at = null, paused_by = null, paused_because = null, next_at = resume_schedule.next_at
  where x.name = s.name;
  insert into switchyard.journal (kind, subject, actor, reason) values ('resume_schedule', name, actor, reason);
  return true;
end
$$;
comment on function switchyard.resume_schedule is 'The schedule fires again, from next_at on; false where it was not paused.';

create or replace function switchyard.trigger_schedule(name text, actor text, reason text) returns uuid
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  s switchyard.schedule := switchyard.locked_schedule(name);
  at timestamptz := clock_timestamp();
  made uuid := switchyard.submit_tick(s, at);
begin
  insert into switchyard.schedule_tick (name, tick_at, outcome, action_uuid) values (s.name, at, 'triggered', made);
  update switchyard.schedule x set recent = switchyard.open_of(s) || made, fired = x.fired + 1 where x.name = s.name;
  insert into switchyard.journal (kind, subject, actor, reason, detail)
  values ('trigger_schedule', name, switchyard.named('actor', actor), switchyard.named('reason', reason), jsonb_build_object('action_uuid', made));
  return made;
end
$$;
comment on function switchyard.trigger_schedule is 'Submits the action of a schedule now, whatever its times and overlap; its id.';

create or replace function switchyard.backfill_schedule(name text, ticks timestamptz[], actor text, reason text) returns integer
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  s switchyard.schedule := switchyard.locked_schedule(name);
  made integer;
begin
  if cardinality(ticks) > 1000 or exists (select from unnest(ticks) as f where f is null or f > now()) then
    raise exception 'ticks: at most 1000 times that have passed' using errcode = 'invalid_parameter_value';
  end if;
  insert into switchyard.schedule_tick as t (name, tick_at, outcome, action_uuid)
  select s.name, f.tick_at, 'backfilled', switchyard.submit_tick(s, f.tick_at)
  from (select distinct f as tick_at from unnest(ticks) as f) as f
  where not exists (select from switchyard.schedule_tick t where t.name = s.name and t.tick_at = f.tick_at and t.outcome <> 'skipped')
  order by f.tick_at
  on conflict on constraint schedule_tick_pkey do update set outcome = 'backfilled', action_uuid = excluded.action_uuid, decided_at = now();
  get diagnostics made = row_count;
  update switchyard.schedule x set fired = x.fired + made where x.name = s.name;
  insert into switchyard.journal (kind, subject, actor, reason, detail)
  values ('backfill', name, switchyard.named('actor', actor), switchyard.named('reason', reason), jsonb_build_object('ticks', cardinality(ticks), 'submitted', made));
  return made;
end
$$;
comment on function switchyard.backfill_schedule is 'Submits the actions of ticks that have passed and did not fire; the number submitted.';

create or replace view switchyard.schedules as
select s.name, s.revision, s.action_name, s.workflow, s.parameters, s.time_parameter, s.priority, s.lane, s.cron, s.every, s.timezone, s.overlap,
  s.catch_up, s.catch_up_window, s.jitter, s.starts_at, s.ends_at, s.next_at, s.last_at, s.paused_at, s.paused_by, s.paused_because,
  s.fired, s.skipped, s.missed,
  (select count(*) from switchyard.yard y where y.action_uuid = any (s.recent)) as open,
  (select count(*) from switchyard.schedule_tick t where t.name = s.name and t.outcome = 'queued') as queued
from switchyard.schedule s;
comment on view switchyard.schedules is 'Every schedule, its next tick, and what became of earlier ones.';

create or replace function switchyard.schedule_changed() returns trigger
language plpgsql as $$
begin
  perform pg_notify('switchyard_maintenance', '');
  return null;
end
$$;
comment on function switchyard.schedule_changed is 'Wakes the conductors, which sleep until the next tick.';
do $$
begin
  -- Only where it is missing: CREATE OR REPLACE TRIGGER would wait for every open writer, and later writers behind it.
  if not exists (select from pg_trigger where tgrelid = 'switchyard.schedule'::regclass and tgname = 'schedule_changed') then
    create trigger schedule_changed after insert or update or delete on switchyard.schedule
      for each statement execute function switchyard.schedule_changed();
  end if;
end
$$;
