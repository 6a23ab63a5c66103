-- The workers of all programs, and what they share: fleet-wide token buckets.
create table switchyard.worker (
  worker_id uuid primary key default gen_random_uuid(),
  kind text not null,
  action_name text,
  host text not null,
  zone text,
  pid integer,
  version text,
  backend_pid integer,
  backend_start timestamptz,
  slots integer not null default 0,
  config_hash text,
  started_at timestamptz not null default now(),
  beat_at timestamptz not null default now(),
  ended_at timestamptz,
  lost_at timestamptz,
  done bigint not null default 0,
  failed bigint not null default 0,
  rate double precision not null default 0,
  state jsonb not null default '{}',
  constraint worker_kind_is_known check (kind in ('conductor', 'caboose', 'assessment'))
);
comment on table switchyard.worker is 'One row a worker: it counts as started once its row is there, and as lost once it stops beating.';
comment on column switchyard.worker.backend_pid is 'With backend_start, the connection that holds its locks; terminated when it is marked lost, as are those that bear its kind and id as their application_name.';
comment on column switchyard.worker.slots is 'The most advisory locks that it may hold at once.';
comment on column switchyard.worker.rate is 'Actions a second since it started.';
comment on column switchyard.worker.state is 'Tokens, breaker factor and whatever else it wants seen.';
create index worker_alive on switchyard.worker (beat_at) where ended_at is null and lost_at is null;

create function switchyard.mark_lost(p_lost_after interval)
returns table (worker_id uuid, kind text, action_name text, host text, beat_at timestamptz, terminated boolean)
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  w switchyard.worker;
begin
  for w in
    select * from switchyard.worker x
    where x.ended_at is null and x.lost_at is null and x.beat_at < clock_timestamp() - p_lost_after
    order by x.worker_id for update skip locked
  loop
    update switchyard.worker x set lost_at = clock_timestamp() where x.worker_id = w.worker_id;
    -- A stopped process keeps its connections, and so its locks, alive. Pids are used again: backend_start tells.
    -- A worker with several connections names them after itself, its kind and id first.
    terminated := coalesce((
      select bool_or(pg_terminate_backend(a.pid)) from pg_stat_activity a
      where a.pid <> pg_backend_pid() and (a.pid = w.backend_pid and a.backend_start = w.backend_start
        or a.datname = current_database() and starts_with(a.application_name, format('%s %s ', w.kind, w.worker_id)))), false);
    insert into switchyard.journal (kind, subject, reason, detail, needs_review)
    values ('lost_worker', w.worker_id::text,
      format('%s worker %s on %s (%s) has not been heard of since %s', w.kind, w.worker_id, w.host, coalesce(w.action_name, 'no action name'), w.beat_at),
      jsonb_build_object('action_name', w.action_name, 'host', w.host, 'pid', w.pid, 'terminated', terminated), true);
    worker_id := w.worker_id; kind := w.kind; action_name := w.action_name; host := w.host; beat_at := w.beat_at;
    return next;
  end loop;
end
$$;
comment on function switchyard.mark_lost is 'Marks workers that stopped beating as lost, ends their connections, and returns them.';

create table switchyard.bucket (
  action_name text primary key,
  tokens double precision not null,
  refilled_at timestamptz not null
);
comment on table switchyard.bucket is 'The token bucket that all conductors of an action name share, for limits of scope fleet.';

-- One row lock makes it exact across instances. Time is the server's, and a clock set back refills nothing.
create function switchyard.take_tokens(p_action_name text, p_rate double precision, p_burst double precision, p_wanted integer)
returns table (taken integer, wait_seconds double precision)
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  available double precision;
begin
  insert into switchyard.bucket as b values (p_action_name, p_burst, clock_timestamp()) on conflict do nothing;
  select least(p_burst, b.tokens + greatest(0, extract(epoch from clock_timestamp() - b.refilled_at)) * p_rate) into available
  from switchyard.bucket b where b.action_name = p_action_name for update;
  taken := least(p_wanted, floor(available + 1e-9))::integer;
  update switchyard.bucket b set tokens = greatest(0, available - taken), refilled_at = greatest(b.refilled_at, clock_timestamp())
  where b.action_name = p_action_name;
  wait_seconds := case when taken > 0 then 0 else (1 - available) / p_rate end;
  return next;
end
$$;
comment on function switchyard.take_tokens is 'Takes up to that many tokens of the shared bucket; with none, how long until there is one.';

create function switchyard.give_tokens(p_action_name text, p_burst double precision, p_tokens integer) returns void
language sql security definer set search_path = switchyard, pg_temp as $$
  update switchyard.bucket b set tokens = least(p_burst, b.tokens + p_tokens) where b.action_name = p_action_name
$$;
comment on function switchyard.give_tokens is 'Puts back tokens that a claim found no work for.';
