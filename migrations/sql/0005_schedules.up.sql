-- Schedules: actions that are submitted at times. Conductors compute the times; switchyard.tick decides under the row's lock.
create table switchyard.schedule (
  name text primary key,
  revision integer not null default 1,
  action_name text not null,
  workflow text,
  parameters jsonb not null default '{}',
  time_parameter text,
  priority smallint not null default 100,
  lane text,
  cron text,
  every double precision,
  timezone text not null default 'UTC',
  overlap text not null default 'skip',
  catch_up text not null default 'last',
  catch_up_window double precision not null default 86400,
  jitter double precision not null default 0,
  starts_at timestamptz,
  ends_at timestamptz,
  next_at timestamptz,
  last_at timestamptz,
  recent uuid[] not null default '{}',
  paused_at timestamptz,
  paused_by text,
  paused_because text,
  fired bigint not null default 0,
  skipped bigint not null default 0,
  missed bigint not null default 0,
  missed_at timestamptz,
  constraint schedule_name_is_a_name check (name <> '' and length(name) <= 200),
  constraint schedule_has_one_way_to_give_times check ((cron is null) <> (every is null)),
  constraint schedule_every_is_a_second_to_a_century check (every >= 1 and every <= 3155760000),
  constraint schedule_overlap_is_known check (overlap in ('skip', 'allow', 'queue', 'replace')),
  constraint schedule_catch_up_is_known check (catch_up in ('none', 'last', 'all')),
  constraint schedule_durations_are_bounded check (
    catch_up_window >= 60 and catch_up_window <= 3155760000 and jitter >= 0 and jitter <= 86400),
  -- What a conductor reads as a date: others would stop the reading of all schedules.
  constraint schedule_times_are_dates check (
    (starts_at is null or starts_at >= '1970-01-01Z' and starts_at < '9998-01-01Z')
    and (ends_at is null or ends_at >= '1970-01-01Z' and ends_at < '9998-01-01Z')
    and (next_at is null or next_at >= '1970-01-01Z' and next_at < '9998-01-01Z')),
  constraint schedule_parameters_is_an_object check (jsonb_typeof(parameters) = 'object'),
  constraint schedule_parameters_is_within_limits check (switchyard.is_within_limits(parameters)),
  constraint schedule_pause_has_who_and_why check (
    (paused_at is null) = (paused_by is null) and (paused_at is null) = (paused_because is null))
);
comment on table switchyard.schedule is 'Which action is submitted at which times.';
comment on column switchyard.schedule.revision is 'Grows with every change: a conductor that computed times from an older definition is refused.';
comment on column switchyard.schedule.time_parameter is 'The parameter that receives the time of the tick.';
comment on column switchyard.schedule.next_at is 'The next tick; null when there are no more.';
comment on column switchyard.schedule.last_at is 'The last tick that was decided; a tick at or before it never fires again, whatever the revision.';
comment on column switchyard.schedule.recent is 'Its actions that may not have ended, and the last one, which may be retriggered.';
comment on column switchyard.schedule.missed_at is 'When ticks were last found missed.';
create index schedule_next on switchyard.schedule (next_at) where paused_at is null;

-- The primary key is why a tick has at most one action, whatever revisions, clocks and conductors do.
create table switchyard.schedule_tick (
  name text not null,
  tick_at timestamptz not null,
  outcome text not null,
  action_uuid uuid,
  decided_at timestamptz not null default now(),
  primary key (name, tick_at),
  constraint schedule_tick_outcome_is_known check (outcome in ('fired', 'skipped', 'queued', 'triggered', 'backfilled')),
  constraint schedule_tick_has_an_action_once_fired check ((action_uuid is null) = (outcome in ('skipped', 'queued')))
);
comment on table switchyard.schedule_tick is 'What became of each tick of each schedule; removed with the partition of the time at which it was decided.';
create index schedule_tick_queued on switchyard.schedule_tick (name, tick_at) where outcome = 'queued';
create index schedule_tick_decided on switchyard.schedule_tick (decided_at);
