-- What the programs share: their workers, the workflows they run, the action names that are paused, and token buckets.
create table switchyard.route (
  workflow text primary key,
  action_name text not null,
  about jsonb,
  reuse jsonb,
  -- Whether its inputs may have coordinates: what has none pays nothing for a map.
  located boolean generated always as (coalesce((about -> 'input')::text ~* '"(bbox|coordinates|geometry|features?)"|geojson', false)) stored,
  -- One odd row would be missing from no list: it would break all of it.
  constraint route_about_is_an_object check (jsonb_typeof(about) = 'object'),
  constraint route_about_is_within_limits check (switchyard.is_within_limits(about))
);
comment on column switchyard.route.about is 'What a caller needs to know of the workflow: title, description, version, schemas of input and output.';
comment on column switchyard.route.reuse is 'Which of its results may be reused: {version, key: [jsonpath, …], for: seconds, shared}.';
comment on table switchyard.route is 'The action name that runs each workflow, as the conductors'' configuration has it.';

create table switchyard.paused (
  action_name text primary key,
  paused_at timestamptz not null default now(),
  actor text not null,
  reason text not null
);
comment on table switchyard.paused is 'Action names that nothing is claimed of until they are resumed.';

create table switchyard.worker (
  worker_id uuid primary key default gen_random_uuid(),
  kind text not null,
  action_name text,
  host text not null,
  zone text,
  pid integer,
  version text,
  backend_pid integer,
  slots integer not null default 0,
  config_hash text,
  started_at timestamptz not null default now(),
  beat_at timestamptz not null default now(),
  rests interval not null default '0',
  ended_at timestamptz,
  lost_at timestamptz,
  done bigint not null default 0,
  failed bigint not null default 0,
  rate double precision not null default 0,
  state jsonb not null default '{}',
  constraint worker_kind_is_known check (kind in ('conductor', 'caboose', 'assessment')),
  constraint worker_texts_are_short check (length(action_name) <= 200 and length(host) <= 500),
  constraint worker_rate_is_a_number check (rate >= 0 and rate < 'infinity'),
  constraint worker_state_is_an_object check (jsonb_typeof(state) = 'object'),
  -- Whatever else a program wants seen is only printed.
  constraint worker_state_has_numbers check (coalesce(jsonb_typeof(state -> 'tokens'), 'number') = 'number'
    and coalesce(jsonb_typeof(state -> 'breaker_factor'), 'number') = 'number'),
  constraint worker_state_is_within_limits check (switchyard.is_within_limits(state)),
  -- Lists of workers are read as dates; null is none of them.
  constraint worker_times_are_dates check (
    least(started_at, beat_at, ended_at, lost_at) >= '1970-01-01Z' and greatest(started_at, beat_at, ended_at, lost_at) < '9999-01-01Z')
);
comment on table switchyard.worker is 'One row a worker: it counts as started once its row is there, and as lost once it stops beating.';
comment on column switchyard.worker.backend_pid is 'The connection that holds its locks, for people; when it is marked lost, those are ended that hold the lock of worker_key.';
comment on column switchyard.worker.slots is 'The most advisory locks that it may hold at once.';
comment on column switchyard.worker.rests is 'While it has nothing to do, its next heartbeat comes within this; 0: it beats regularly.';
comment on column switchyard.worker.rate is 'Actions a second since it started.';
comment on column switchyard.worker.state is 'Tokens, breaker factor and whatever else it wants seen.';
create index worker_alive on switchyard.worker (beat_at) where ended_at is null and lost_at is null;

create table switchyard.bucket (
  action_name text primary key,
  tokens double precision not null,
  refilled_at timestamptz not null
);
comment on table switchyard.bucket is 'The token bucket that all conductors of an action name share, for limits of scope fleet.';
