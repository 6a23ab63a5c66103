-- Lanes: limits for the whole fleet and fair turns. A flow is what takes turns and has limits together: all actions of a
-- name, or those of one workflow of it. Only flows have rows here; other action names cost nothing.
create table switchyard.flow (
  flow text primary key,
  action_name text not null,
  workflow text,
  lane_path jsonpath,
  in_flight integer,
  rate double precision,
  burst double precision,
  running integer,
  lane_in_flight integer,
  lane_rate double precision,
  lane_burst double precision,
  lane_running integer,
  weights jsonb not null default '{}',
  breaker_floor double precision not null default 0.01,
  priority_aging double precision,
  reranked uuid,
  unique nulls not distinct (action_name, workflow),
  constraint flow_limits_are_at_least_1 check (least(in_flight, running, lane_in_flight, lane_running) >= 1),
  constraint flow_rates_are_positive check (least(rate, lane_rate) > 0 and least(burst, lane_burst) >= 1),
  constraint flow_rate_has_a_burst check ((rate is null) = (burst is null) and (lane_rate is null) = (lane_burst is null)),
  constraint flow_priority_aging_is_a_second_to_a_year check (priority_aging between 1 and 31536000),
  constraint flow_weights_are_an_object check (jsonb_typeof(weights) = 'object'),
  constraint flow_weights_are_positive check (
    not jsonb_path_exists(weights, 'strict $.* ? (@.type() != "number" || @ < 0.01 || @ > 1000)', '{}', true))
);
comment on table switchyard.flow is 'Action names, or workflows of them, that have lanes or limits, as the conductors announced them.';
comment on column switchyard.flow.flow is 'The action name, or action name/workflow.';
comment on column switchyard.flow.lane_path is 'Where the lane is in the parameters, if a submission names none.';
comment on column switchyard.flow.in_flight is 'Dispatches in flight at once, of the whole fleet.';
comment on column switchyard.flow.priority_aging is 'Waiting for this many seconds counts as much as a priority that is smaller by one; null: waiting never counts.';
comment on column switchyard.flow.reranked is 'While priority_aging changes: up to this action all have their new rank; null: all have.';
comment on column switchyard.flow.running is 'Executions at the backend at once, those in flight included.';

-- What changes with every claim has a number in its key that only grows, and is read from the newest end: versions that an
-- old snapshot keeps are never walked. One living row each, guaranteed by the flow's mutex.
create table switchyard.flow_state (
  flow text not null,
  seq bigint not null,
  vnow double precision not null default 0,
  vmax double precision not null default 0,
  seen pg_snapshot not null default '1:1:',
  waited timestamptz not null default '-infinity',
  tokened timestamptz not null default '-infinity',
  swept timestamptz not null default '-infinity',
  in_flight integer not null default 0,
  tokens double precision,
  refilled timestamptz not null default clock_timestamp(),
  primary key (flow, seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
comment on table switchyard.flow_state is 'What the claims of a flow remember: virtual time, the last snapshot, tokens.';
comment on column switchyard.flow_state.vnow is 'No ready lane has a smaller virtual time.';
comment on column switchyard.flow_state.vmax is 'The greatest virtual time that was looked at.';
comment on column switchyard.flow_state.seen is 'What it shows has been dealt with.';
comment on column switchyard.flow_state.waited is 'Nothing that is known of is due before.';
comment on column switchyard.flow_state.tokened is 'No lane waits until before.';

create table switchyard.flow_session (
  flow text not null,
  session bigint not null,
  seq bigint not null,
  ids uuid[] not null default '{}',
  lanes text[] not null default '{}',
  dead_at timestamptz,
  primary key (flow, session, seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
alter table switchyard.flow_session alter column ids set storage external, alter column lanes set storage external;
comment on column switchyard.flow_session.dead_at is 'When its session was found gone; its slots come free four seconds later.';
comment on table switchyard.flow_session is 'What each session has in flight of a flow: never less than what it holds. Rewritten by each of its claims.';
create sequence switchyard.flow_session_id as bigint;

create table switchyard.lane (
  flow text not null,
  lane text not null,
  seq bigint not null,
  state text not null default 'ready',
  vtime double precision not null,
  weight double precision not null default 1,
  in_flight integer not null default 0,
  tokens double precision,
  refilled timestamptz not null default clock_timestamp(),
  next_at timestamptz,
  since timestamptz,
  factor double precision not null default 1,
  from_rank bigint not null default -9223372036854775808,
  from_uuid uuid not null default '00000000-0000-0000-0000-000000000000',
  early uuid[] not null default '{}',
  constraint lane_state_is_known check (state in ('ready', 'full', 'waiting', 'empty')),
  constraint lane_weight_is_positive check (weight > 0),
  constraint lane_in_flight_is_not_negative check (in_flight >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
comment on table switchyard.lane is 'The lanes of a flow: whose turn it is, what each has in flight, and how far it was claimed.';
comment on column switchyard.lane.state is 'Waiting is until next_at: for tokens, or for what others hold.';
comment on column switchyard.lane.vtime is 'Virtual time: turns that it had, divided by its weight.';
comment on column switchyard.lane.since is 'Since when it has work that its limits hold back.';
comment on column switchyard.lane.factor is 'What the breaker leaves of its limits.';
comment on column switchyard.lane.from_uuid is 'All that was ready up to (from_rank, from_uuid) was taken, except early.';
comment on column switchyard.lane.early is 'What entered behind that.';
-- The expression keeps this index for looking up one lane: nothing else fits it, and that fits no other index.
create index lane_newest on switchyard.lane ((flow || ''), lane, seq desc);
create index lane_turn on switchyard.lane (flow, vtime, lane) where state = 'ready';
create index lane_waiting on switchyard.lane (flow, next_at) where state = 'waiting';
