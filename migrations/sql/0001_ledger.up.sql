-- The ledger: what is asked for (action), its state (thread), its steps (event), and two small tables beside them.
-- The functions here are part of the tables: defaults and generated columns are made of them, so changing one means
-- rewriting rows. All other functions are in migrations/current.
-- An id alone gives a row's age and so its partition.
create schema switchyard;
comment on schema switchyard is 'Every asynchronous action, its current state (thread) and every step it took (event); also the queue.';

-- The order is the rank in which a thread may move within an attempt; everything from SUCCESSFUL on is an end.
create type switchyard.status as enum (
  'INFO', 'PENDING', 'QUEUED', 'RUNNING', 'BACKOFF',
  'SUCCESSFUL', 'FAILED', 'CANCELED', 'TIMED_OUT', 'INVALID', 'RETRIES_EXHAUSTED'
);
comment on type switchyard.status is 'In order of rank; INFO changes nothing; from SUCCESSFUL on, the run has ended.';

-- Millisecond in the first 48 bits, the fraction of it in the 12 bits behind the version: ids of one session sort by age.
-- One expression that uses its argument once, so that Postgres inlines it: called as a function it took 9 us, so 3.6.
create function switchyard.uuid7(at timestamptz default clock_timestamp()) returns uuid
language sql volatile parallel safe as $$
  select (overlay(lpad(to_hex((date_part('epoch', at) * 4096000)::bigint), 15, '0') placing '7' from 13 for 0)
    || right(gen_random_uuid()::text, 18))::uuid
$$;
comment on function switchyard.uuid7 is 'A new version 7 uuid for that moment.';

create function switchyard.uuid_floor(at timestamptz) returns uuid
language sql immutable parallel safe as $$
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;
comment on function switchyard.uuid_floor is 'The smallest uuid of that moment: the bound of a partition.';

create function switchyard.uuid_time(id uuid) returns timestamptz
language sql immutable parallel safe strict as $$
  select to_timestamp((('x' || encode(substring(uuid_send(id) for 6), 'hex'))::bit(48)::bigint)::double precision / 1000)
$$;
comment on function switchyard.uuid_time is 'When that version 7 uuid was made, to the millisecond.';

create function switchyard.uuid_lock(id uuid) returns bigint
language sql immutable parallel safe strict as $$
  select ('x' || encode(substring(uuid_send(id) from 9), 'hex'))::bit(64)::bigint
$$;
comment on function switchyard.uuid_lock is 'The advisory lock that conductor and caboose share for that action: the last 8 bytes.';

-- Postgres stores more than programs can read: any depth, numbers of 100,000 digits, and 60 MiB packed into one. Most
-- documents are short, and then their length alone decides: 307 digits and 201 levels take more than 300 characters.
-- A number that is too small for a double is as bad as one that is too large: a query that casts it fails for all rows.
create function switchyard.is_within_limits(document jsonb) returns boolean
language plpgsql immutable parallel safe strict as $$
declare
  written text := document;
begin
  return octet_length(written) <= 300 or (
    octet_length(written) <= 1048576
    and not jsonb_path_exists(document, 'strict $.**{201}')
    and (written !~ '[0-9]{255}'
      or not jsonb_path_exists(document, 'strict $.** ? (@.type() == "number" && (@ >= 1e308 || @ <= -1e308 || (@ < 1e-307 && @ > -1e-307 && @ != 0)))')));
end
$$;
comment on function switchyard.is_within_limits is 'At most 1 MiB as text, 200 levels deep, and numbers that fit a double.';

create function switchyard.are_tags(tags text[]) returns boolean
language plpgsql immutable parallel safe strict as $$
begin
  return array_ndims(tags) = 1 and cardinality(tags) <= 32 and not exists (
    select from unnest(tags) as t (tag) where t.tag is null or length(t.tag) not between 1 and 200);
end
$$;
comment on function switchyard.are_tags is '1 to 32 tags of 1 to 200 characters each.';

create table switchyard.action (
  action_uuid uuid not null default switchyard.uuid7(),
  created_at timestamptz generated always as (switchyard.uuid_time(action_uuid)) stored,
  action_type text not null default 'callback',
  action_name text not null,
  workflow text,
  callback text,
  parent_uuid uuid,
  priority smallint not null default 100,
  parameters jsonb not null default '{}',
  callbacks jsonb,
  correlation_id text,
  idempotency_key text,
  start_after timestamptz,
  lane text,
  tags text[],
  after uuid[],
  after_policy text,
  member_of uuid,
  node text,
  inputs jsonb,
  no_cache boolean,
  submitted_by text not null default session_user,
  primary key (action_uuid),
  -- A version 4 id would sort, and be dropped by retention, by chance.
  constraint action_uuid_is_version_7 check (get_byte(uuid_send(action_uuid), 6) >> 4 = 7),
  constraint action_type_is_workflow_or_callback check (action_type in ('workflow', 'callback')),
  -- What has no workflow has no execution to follow: the two columns must agree.
  constraint action_type_matches_workflow check ((action_type = 'workflow') = (workflow is not null)),
  constraint action_name_is_a_name check (action_name <> '' and length(action_name) <= 200),
  constraint workflow_is_a_name check (workflow <> '' and length(workflow) <= 200),
  constraint callback_is_a_name check (callback <> '' and length(callback) <= 200),
  constraint idempotency_key_is_short check (idempotency_key <> '' and length(idempotency_key) <= 500),
  constraint correlation_id_is_short check (length(correlation_id) <= 500),
  constraint parameters_is_an_object check (jsonb_typeof(parameters) = 'object'),
  -- Large inputs belong in the object store; here they would slow every claim.
  -- The length alone decides for most, without the call of a function for each row.
  constraint parameters_is_within_limits check (octet_length(parameters::text) <= 300 or switchyard.is_within_limits(parameters)),
  -- Only a release writes this key: it names outputs of other actions that conductor will read.
  constraint parameters_names_no_inputs check (inputs is not null or not parameters ? '$inputs'),
  constraint callbacks_is_a_list check (jsonb_typeof(callbacks) = 'array'),
  constraint callbacks_is_within_limits check (switchyard.is_within_limits(callbacks)),
  -- Neither infinity nor a year that Python has no date for.
  constraint start_after_is_a_date check (start_after >= '1970-01-01Z' and start_after < '9999-01-01Z'),
  constraint lane_is_a_name check (lane <> '' and length(lane) <= 200),
  constraint tags_are_short check (switchyard.are_tags(tags))
) partition by range (action_uuid);
comment on table switchyard.action is 'What is to be done, once. Insert a row (or call submit) and it will be.';
comment on column switchyard.action.action_uuid is 'Version 7: orders by age and names its partition.';
comment on column switchyard.action.created_at is 'The time in action_uuid.';
comment on column switchyard.action.action_type is 'workflow where it runs one, else callback.';
comment on column switchyard.action.action_name is 'The handler that conductor is configured for.';
comment on column switchyard.action.workflow is 'The workflow definition that it runs.';
comment on column switchyard.action.callback is 'The callback definition that it was made by.';
comment on column switchyard.action.parent_uuid is 'The action whose end made this one.';
comment on column switchyard.action.priority is 'Smaller goes first; of equals the older.';
comment on column switchyard.action.parameters is 'What its templates and its workflow are given.';
comment on column switchyard.action.callbacks is 'Callbacks of this action alone, shaped like those in the configuration.';
comment on column switchyard.action.correlation_id is 'Goes along into every log line, message and webhook.';
comment on column switchyard.action.idempotency_key is 'Used again for the same action_name, it finds the first action instead of making a second.';
comment on column switchyard.action.start_after is 'Not before this time.';
comment on column switchyard.action.lane is 'Whom it belongs to or where it goes: limits and fair turns are per lane.';
comment on column switchyard.action.tags is 'Labels to search by.';
comment on column switchyard.action.submitted_by is 'The user that was logged in; nobody but the owner can write another.';
comment on column switchyard.action.after is 'The actions that must have ended before this one starts.';
comment on column switchyard.action.after_policy is 'Whether they must have been successful (the default), or only ended.';
comment on column switchyard.action.member_of is 'The set that it belongs to: a graph or a campaign.';
comment on column switchyard.action.node is 'Its name in its graph.';
comment on column switchyard.action.inputs is 'Parameters that are taken from the outputs of others: {name: {from: action, path: JSONPath}}.';
comment on column switchyard.action.no_cache is 'It is computed, whatever results there are, and its own result is not reused.';
create index action_after on switchyard.action using gin (after) where after is not null;
create index action_member on switchyard.action (member_of, action_uuid) where member_of is not null;
create index action_parent on switchyard.action (parent_uuid) where parent_uuid is not null;

create table switchyard.thread (
  action_uuid uuid not null,
  created_at timestamptz not null,
  action_name text not null,
  priority smallint not null,
  status switchyard.status not null default 'PENDING',
  run integer not null default 1,
  attempt integer not null default 0,
  tries integer not null default 0,
  next_attempt_after timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  last_update timestamptz not null default now(),
  error text,
  note text,
  needs_review boolean not null default false,
  callbacks_due boolean not null default false,
  calls_back boolean not null default false,
  cause text,
  lock_id bigint generated always as (switchyard.uuid_lock(action_uuid)) stored,
  primary key (action_uuid),
  constraint thread_ended_at_matches_status check ((ended_at is not null) = (status >= 'SUCCESSFUL')),
  constraint thread_status_is_a_state check (status <> 'INFO')
) partition by range (action_uuid);
comment on table switchyard.thread is 'The current state of each action. Never written by hand: insert an event.';
comment on column switchyard.thread.run is 'One execution: what a backend knows by one name.';
comment on column switchyard.thread.attempt is 'Dispatches within the run, so far.';
comment on column switchyard.thread.tries is 'Runs that the workflow''s own retry policy opened since it was last triggered by hand.';
comment on column switchyard.thread.next_attempt_after is 'Not claimed before this time.';
comment on column switchyard.thread.started_at is 'When this run was first seen queued, running or ended.';
comment on column switchyard.thread.ended_at is 'When the end of the run was recorded; set once per run.';
comment on column switchyard.thread.error is 'The error of the last event.';
comment on column switchyard.thread.note is 'One line for people.';
comment on column switchyard.thread.needs_review is 'In the inbox until somebody has decided.';
comment on column switchyard.thread.callbacks_due is 'It ended, and its callbacks have not been made yet.';
comment on column switchyard.thread.calls_back is 'A workflow, or an action with callbacks of its own.';
comment on column switchyard.thread.cause is 'After an unsuccessful end: its error without numbers, ids, hosts and quoted texts.';
comment on column switchyard.thread.lock_id is 'The advisory key that conductor and caboose share.';
-- The inbox, by cause. No column here changes with a success, so that its update can stay within its page (HOT); the
-- time of the end would.
create index thread_inbox on switchyard.thread (cause, action_uuid) where needs_review;
create index thread_callbacks_due on switchyard.thread (action_uuid) where callbacks_due;

create sequence switchyard.event_id as bigint cache 32;
create table switchyard.event (
  event_id bigint not null default nextval('switchyard.event_id'),
  action_uuid uuid not null,
  event_time timestamptz not null default now(),
  status switchyard.status not null,
  run integer,
  attempt integer,
  source text default session_user,
  error text,
  retry_seconds double precision,
  detail jsonb,
  ignored boolean not null default false,
  recorded_by text not null default session_user,
  primary key (action_uuid, event_id),
  -- Far above what anybody needs, far below where adding 1 overflows.
  constraint event_run_counts_from_1 check (run between 1 and 1000000),
  constraint event_attempt_counts_from_0 check (attempt between 0 and 1000000),
  -- A year before the last that Python has a date for: retry_seconds are added to it.
  constraint event_time_is_a_date check (event_time >= '1970-01-01Z' and event_time < '9998-01-01Z'),
  constraint event_source_is_a_name check (length(source) <= 200),
  constraint event_error_is_at_most_64_kib check (octet_length(error) <= 65536),
  -- Queries and pages read its keys.
  constraint event_detail_is_an_object check (jsonb_typeof(detail) = 'object'),
  constraint event_detail_is_within_limits check (switchyard.is_within_limits(detail)),
  constraint event_retry_seconds_is_a_delay check (retry_seconds >= 0 and retry_seconds <= 31536000)
) partition by range (action_uuid);

comment on table switchyard.event is 'Every step of every action, append-only. Inserting (action_uuid, status) is enough.';
comment on column switchyard.event.run is 'The thread''s where it is not given.';
comment on column switchyard.event.attempt is 'The thread''s where it is not given.';
comment on column switchyard.event.source is 'Who reported it: a program or a person.';
comment on column switchyard.event.recorded_by is 'The user that was logged in; nobody but the owner can write another.';
comment on column switchyard.event.retry_seconds is 'With BACKOFF: how long from event_time until it is due again.';
comment on column switchyard.event.detail is 'What else is known; note becomes the thread''s note.';
comment on column switchyard.event.ignored is 'It came too late or twice and changed nothing.';

-- Every thread that has not ended. Not partitioned and always small, so that a claim costs the same whatever the history.
create table switchyard.yard (
  action_uuid uuid primary key,
  action_name text not null,
  priority smallint not null,
  status switchyard.status not null,
  run integer not null,
  attempt integer not null,
  due timestamptz,
  lock_id bigint not null,
  entered xid8 not null default pg_current_xact_id(),
  watched boolean,
  member_of uuid,
  flow text,
  lane text,
  rank bigint,
  constraint yard_rank_is_that_of_a_flow check ((flow is null) = (rank is null)),
  constraint yard_holds_what_has_not_ended check (status in ('PENDING', 'QUEUED', 'RUNNING', 'BACKOFF'))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000);
comment on table switchyard.yard is 'The threads that have not ended: the queue itself. Written only by triggers.';
comment on column switchyard.yard.entered is 'The transaction that last made it ready or waiting: claims find by it what is new behind their position.';
comment on column switchyard.yard.due is 'Not before; null once that time has passed and a claim has seen it; infinity while it waits for other actions.';
comment on column switchyard.yard.watched is 'Another action waits for it: its end notifies.';
comment on column switchyard.yard.member_of is 'The set that counts its end.';
comment on column switchyard.yard.flow is 'Whose limits and turns it is under; null for action names without lanes and limits.';
comment on column switchyard.yard.lane is 'Its lane in that flow; empty for an action without one.';
comment on column switchyard.yard.rank is 'Smaller goes first in its lane: its priority, or where that ages, a time.';
create index yard_ready on switchyard.yard (action_name, priority, action_uuid)
  where flow is null and status in ('PENDING', 'BACKOFF') and due is null;
-- The expression keeps this index for the claims of flows alone.
create index yard_lane on switchyard.yard ((flow || ''), lane, rank, action_uuid)
  where flow is not null and status in ('PENDING', 'BACKOFF') and due is null;
create index yard_waiting on switchyard.yard (action_name, due)
  where status in ('PENDING', 'BACKOFF') and due is not null;
-- By the hash, so that no other query fits it, and this one no other index: plans cannot flip. Entries always go to the end.
create index yard_arrival on switchyard.yard (hashtext(action_name), entered) where status in ('PENDING', 'BACKOFF');
create index yard_member on switchyard.yard (member_of, action_uuid) where member_of is not null;
create index yard_handed_over on switchyard.yard (action_name, action_uuid)
  where status in ('QUEUED', 'RUNNING');

create type switchyard.claim_position as (
  action_name text,
  since timestamptz,
  seen pg_snapshot,
  priority smallint,
  action_uuid uuid,
  waited timestamptz,
  moved timestamptz,
  probed timestamptz,
  passed uuid[],
  ahead_priority smallint,
  ahead_uuid uuid
);
comment on type switchyard.claim_position is 'What a session remembers of the queue between two claims; see the function claim.';

-- Not partitioned, because a key is unique across all partitions.
create table switchyard.idempotency (
  action_name text not null,
  idempotency_key text not null,
  action_uuid uuid not null,
  content bytea not null,
  primary key (action_name, idempotency_key)
);
comment on table switchyard.idempotency is 'The action of each idempotency key, and a hash of what was submitted.';
create index idempotency_action on switchyard.idempotency (action_uuid);

create table switchyard.journal (
  entry_id bigint generated always as identity primary key,
  entry_time timestamptz not null default now(),
  kind text not null,
  subject text not null,
  actor text,
  reason text,
  detail jsonb,
  needs_review boolean not null default false,
  recorded_by text not null default session_user,
  constraint journal_detail_is_an_object check (jsonb_typeof(detail) = 'object'),
  constraint journal_detail_is_within_limits check (switchyard.is_within_limits(detail))
);
comment on table switchyard.journal is 'What happened that belongs to no single action: pauses, lost workers, messages that nobody could read.';
create index journal_inbox on switchyard.journal (entry_id) where needs_review;

create table switchyard.applied (
  only_one boolean primary key default true check (only_one),
  definitions text not null
);
comment on table switchyard.applied is 'Which functions, views and grants this database has: a hash of migrations/current.';
