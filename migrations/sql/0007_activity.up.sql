-- How much each worker got done, minute by minute, for a day: for sparklines and estimates.
-- Each row has one writer, which adds to it with its heartbeat, so that no row is shared. By minute first: the newest are read, and
-- the oldest removed, in one place of the index.
create table switchyard.activity (
  minute timestamptz not null,
  action_name text not null,
  worker_id uuid not null,
  ended integer not null,
  failed integer not null,
  busy_seconds double precision not null,
  primary key (minute, action_name, worker_id),
  constraint activity_counts_from_0 check (ended >= 0 and failed >= 0 and busy_seconds >= 0 and busy_seconds < 'infinity'),
  constraint activity_minute_is_a_date check (minute >= '1970-01-01Z' and minute < '9999-01-01Z')
) with (fillfactor = 70);
comment on table switchyard.activity is 'One row per worker, action name and minute; removed after a day.';
comment on column switchyard.activity.minute is 'The start of the minute, by the clock of the database.';
comment on column switchyard.activity.ended is 'Dispatches that were recorded: ends of both kinds and handovers to a backend.';
comment on column switchyard.activity.failed is 'Those of them that ended without success.';
comment on column switchyard.activity.busy_seconds is 'The time that dispatches spent in their handlers, counted when they return.';
