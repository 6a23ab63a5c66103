-- Why an action has not ended: one sentence, with an estimate. It reads the same rows as claims do, so the sentence matches what the
-- next claim will find; it takes no locks, and counts only up to a bound, however long the queue is.

create or replace function switchyard.in_words(seconds double precision) returns text
language sql immutable parallel safe strict as $$
  select case
    when seconds < 0.95 then 'less than a second'
    when seconds < 90 then round(seconds) || ' s'
    when seconds < 5400 then round(seconds / 60) || ' min'
    when seconds < 172800 then round(seconds / 3600) || ' h'
    else round(seconds / 86400) || ' days' end
$$;
comment on function switchyard.in_words is 'A number of seconds as people say it.';

create or replace function switchyard.moment(at timestamptz) returns text
language sql stable parallel safe strict as $$ select to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') $$;
comment on function switchyard.moment is 'A time, in UTC, as it is written in sentences.';

-- All threads before the oldest open one have ended: the newest of them are a fair sample. If this
-- sample is too small, the newest of all threads are used, in which long executions are still missing. No index has the name or
-- the end, because it would prevent HOT updates; a few hundred rows by their primary key take a few milliseconds.
create or replace function switchyard.recent_seconds(p_action_name text, p_workflow text) returns double precision[]
language plpgsql stable set search_path = switchyard, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  newest constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  head uuid := (
    select y.action_uuid from switchyard.yard y
    where y.action_name = p_action_name and y.flow is null and y.status in ('PENDING', 'BACKOFF') and y.due is null
    order by y.priority, y.action_uuid limit 1);
  oldest uuid := (
    select y.action_uuid from switchyard.yard y
    where y.action_name = p_action_name and y.status in ('QUEUED', 'RUNNING') order by y.action_uuid limit 1);
  before uuid;
  found double precision[];
begin
  foreach before in array array[coalesce(least(head, oldest), newest), newest] loop
    select array_agg(extract(epoch from t.ended_at - t.started_at)::double precision) into found
    from (
      select x.* from switchyard.thread x where x.action_uuid < before order by x.action_uuid desc limit 500
    ) as t cross join lateral (
      select a.workflow from switchyard.action a where a.action_uuid = t.action_uuid offset 0) as a
    where t.action_name = p_action_name and t.ended_at is not null and t.status <> 'CANCELED'
      and a.workflow is not distinct from p_workflow;
    exit when cardinality(found) >= 20;
  end loop;
  return found;
end
$$;
comment on function switchyard.recent_seconds is 'How long recent executions of that workflow took, in no order; null where none was found.';

-- The middle 80 %. An action that has been running is compared with those that took longer. The queue is assumed to move as in the last
-- quarter of an hour. The number of actions that leave it in an interval varies by its square root, both in the past from which the rate is
-- computed and in the future; with mixed durations it varies more: 1.5 times as much in the simulation.
create or replace function switchyard.estimated_seconds(
  p_action_name text, p_workflow text, p_elapsed double precision, p_place integer, out low double precision, out high double precision
) language plpgsql stable set search_path = switchyard, pg_temp as $$
declare
  durations double precision[] := switchyard.recent_seconds(p_action_name, p_workflow);
  longer double precision[];
  n integer;
  q double precision[];
  counted bigint;
  rate double precision;
  line double precision := 0;
  spread double precision := 0;
begin
  select array_agg(d order by d) into longer from unnest(durations) as d where d > p_elapsed or p_elapsed = 0;
  n := cardinality(longer);
  if n >= 8 then
    -- The next one falls with equal probability between any two neighbours or outside: below place p (n + 1) with probability p.
    select array_agg(longer[k.below] + (k.place - k.below) * (longer[least(n, k.below + 1)] - longer[k.below]) order by k.place) into q
    from unnest(array[0.1, 0.5, 0.9]) as p cross join lateral (
      select least(n, greatest(1, p * (n + 1))) as place, floor(least(n, greatest(1, p * (n + 1))))::integer as below) as k;
  end if;
  if q is null then
    return;
  end if;
  if p_place > 0 then
    select sum(a.ended), sum(a.ended) / greatest(60, extract(epoch from clock_timestamp() - min(a.minute))) into counted, rate
    from switchyard.activity a
    where a.minute > clock_timestamp() - interval '15 minutes' and a.action_name = p_action_name;
    if coalesce(rate, 0) = 0 then
      return;
    end if;
    line := p_place / rate;
    spread := 1.2816 * 1.5 * line * sqrt(1.0 / p_place + 1.0 / counted);
  end if;
  low := greatest(0, line + q[2] - p_elapsed - sqrt(spread ^ 2 + (q[2] - q[1]) ^ 2));
  high := greatest(0, line + q[2] - p_elapsed + sqrt(spread ^ 2 + (q[3] - q[2]) ^ 2));
end
$$;
comment on function switchyard.estimated_seconds is 'Between which times from now it will probably have ended, in 8 of 10 cases; null where nothing is known.';

-- The sessions that may hold it: the lock is the claim. pg_locks shows its key in two halves.
create or replace function switchyard.holder_of(p_lock bigint) returns uuid
language sql stable set search_path = switchyard, pg_temp as $$
  select coalesce(w.worker_id, '00000000-0000-0000-0000-000000000000')
  from pg_locks l join pg_database d on d.oid = l.database
  left join switchyard.worker_sessions() as s on s.pid = l.pid
  left join switchyard.worker w on switchyard.worker_key(w.worker_id) = s.key and w.ended_at is null and w.lost_at is null
  where d.datname = current_database() and l.locktype = 'advisory' and l.objsubid = 1 and l.granted
    and l.classid::bigint = (p_lock >> 32) & 4294967295 and l.objid::bigint = p_lock & 4294967295
  limit 1
$$;
comment on function switchyard.holder_of is 'The worker that holds that lock; zeros where it belongs to no worker; null where nobody holds it.';

-- The conductors of a name: their number and slots, and the best tokens and breaker among them, as of their last heartbeats.
create or replace function switchyard.served_by(
  p_action_name text, out workers integer, out slots bigint, out tokens double precision, out breaker double precision
) language sql stable set search_path = switchyard, pg_temp as $$
  select count(*)::integer, sum(w.slots),
    case when count(*) = count(n.tokens) then max(n.tokens) end, case when count(*) = count(n.breaker) then max(n.breaker) end
  from switchyard.worker w cross join lateral (
    select case jsonb_typeof(w.state -> 'tokens') when 'number' then (w.state ->> 'tokens')::double precision end as tokens,
      case jsonb_typeof(w.state -> 'breaker_factor') when 'number' then (w.state ->> 'breaker_factor')::double precision end as breaker) as n
  where w.kind = 'conductor' and w.action_name = p_action_name and w.ended_at is null and w.lost_at is null
$$;
comment on function switchyard.served_by is 'The living conductors of that name.';

-- Its place in the queue: 1 is next. Dispatched actions stay in the queue until their outcome, so their locks are checked. Actions that fell
-- due since the last claim join the queue with the next one. With limits it is the place in its lane.
create or replace function switchyard.place_of(p_action_name text, p_priority smallint, p_uuid uuid, p_most integer) returns integer
language plpgsql stable set search_path = switchyard, pg_temp set enable_seqscan = off as $$
declare
  held bigint[] := array(
    select (l.classid::bigint << 32) | l.objid::bigint from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and l.locktype = 'advisory' and l.objsubid = 1 and l.granted);
  moment timestamptz := clock_timestamp(); -- in a variable: an index is not searched by a volatile function
  own switchyard.yard;
begin
  select * into own from switchyard.yard y where y.action_uuid = p_uuid;
  return 1 + (
    select count(*) from (
      select from switchyard.yard y
      where own.flow is null and y.action_name = p_action_name and y.flow is null and y.status in ('PENDING', 'BACKOFF') and y.due is null
        and (y.priority, y.action_uuid) < (p_priority, p_uuid) and y.lock_id <> all (held)
      order by y.priority, y.action_uuid limit p_most) as ready
  ) + (
    select count(*) from (
      select from switchyard.yard y
      where (y.flow || '') = own.flow and y.flow is not null and y.lane = own.lane
        and y.status in ('PENDING', 'BACKOFF') and y.due is null
        and (y.rank, y.action_uuid) < (own.rank, p_uuid) and y.lock_id <> all (held)
      order by y.rank, y.action_uuid limit p_most) as in_lane
  ) + (
    select count(*) from (
      select from switchyard.yard y
      where y.action_name = p_action_name and y.status in ('PENDING', 'BACKOFF') and y.due <= moment
        and (y.flow, y.lane) is not distinct from (own.flow, own.lane)
        and (coalesce(y.rank, y.priority), y.action_uuid) < (coalesce(own.rank, p_priority), p_uuid) and y.lock_id <> all (held)
      limit p_most) as due);
end
$$;
comment on function switchyard.place_of is 'How many of that name would be claimed before it, and itself; counted to p_most of each.';

-- A flow has its own limits and takes turns by lane: the reason is the first limit that is reached. The queue is that of the lane.
create or replace function switchyard.why_in_lane(y switchyard.yard, p_most integer, out kind text, out sentence text, out facts jsonb)
language plpgsql stable set search_path = switchyard, pg_temp as $$
declare
  f switchyard.flow;
  l switchyard.lane;
  s switchyard.flow_state;
  docked bigint := 0; -- at the backend and not in flight, of the flow and of the lane
  lane_docked bigint := 0;
  least_left integer; -- what the breaker leaves of the lane's slots
  place integer;
  named text := case when y.lane = '' then y.flow else format('lane %s of %s', y.lane, y.flow) end;
begin
  select * into f from switchyard.flow x where x.flow = y.flow;
  select * into l from switchyard.lane x where (x.flow || '') = y.flow and x.lane = y.lane order by x.seq desc limit 1;
  select * into s from switchyard.flow_state x where x.flow = y.flow order by x.seq desc limit 1;
  if f.running is not null or f.lane_running is not null then
    select count(*), count(*) filter (where z.lane = y.lane) into docked, lane_docked from switchyard.yard z
    where z.action_name = f.action_name and z.status in ('QUEUED', 'RUNNING') and z.flow = y.flow
      and z.action_uuid not in (select unnest(x.ids) from switchyard.flow_session x where x.flow = y.flow);
  end if;
  least_left := case when f.lane_in_flight is not null then greatest(1, floor(f.lane_in_flight * l.factor)) end;
  place := switchyard.place_of(y.action_name, y.priority, y.action_uuid, p_most);
  sentence := case when place > p_most then format('More than %s are before it in %s', p_most, named)
    when place = 1 then format('It is next in %s', named) else format('It is number %s in %s', place, named) end;
  kind := case when s.in_flight >= f.in_flight or s.in_flight + docked >= f.running then 'limited'
    when l.in_flight >= f.lane_in_flight or l.in_flight + lane_docked >= f.lane_running then 'lane_full'
    when l.in_flight >= least_left then 'breaker'
    when switchyard.refilled(l.tokens, l.refilled, clock_timestamp(), f.lane_rate * l.factor, f.lane_burst) < 1
      then case when l.factor < 1 then 'breaker' else 'rate' end
    when switchyard.refilled(s.tokens, s.refilled, clock_timestamp(), f.rate, f.burst) < 1 then 'rate'
    else 'in_line' end;
  sentence := sentence || case kind
    when 'limited' then format(', and %s has all of its %s %s', y.flow, coalesce(f.running, f.in_flight),
      case when f.running is null then 'in flight' else 'at the backend' end)
    when 'lane_full' then format(', which has all of its %s %s', coalesce(f.lane_running, f.lane_in_flight),
      case when f.lane_running is null then 'in flight' else 'at the backend' end)
    when 'breaker' then format(', which its breaker has slowed to %s %% after errors', round((l.factor * 100)::numeric, 1))
    when 'rate' then ', which is at its rate limit' else '' end;
  facts := jsonb_build_object('flow', y.flow, 'lane', nullif(y.lane, ''), 'place', least(place, p_most), 'more', place > p_most,
    'in_flight', s.in_flight + docked, 'lane_in_flight', l.in_flight + lane_docked, 'since', l.since,
    'breaker', nullif(l.factor, 1));
end
$$;
comment on function switchyard.why_in_lane is 'Why an action of a flow has not been claimed.';

-- The last report of its backend about this run.
create or replace function switchyard.reported(p_uuid uuid, p_run integer) returns jsonb
language sql stable set search_path = switchyard, pg_temp as $$
  select e.detail from switchyard.event e
  where e.action_uuid = p_uuid and e.run = p_run and e.status in ('INFO', 'QUEUED', 'RUNNING') and e.detail is not null and not e.ignored
  order by e.event_time desc, e.event_id desc limit 1
$$;
comment on function switchyard.reported is 'The detail of the last report about that run.';

create or replace function switchyard.why_held(p_uuid uuid) returns text
language sql stable set search_path = switchyard, pg_temp as $$
  select coalesce((
    select format('It waits for %s of %s actions, among them %s of %s (%s)', count(*), cardinality(w.after), min(o.action_uuid::text),
      (array_agg(o.action_name order by o.action_uuid))[1], (array_agg(o.status order by o.action_uuid))[1])
    from switchyard.waiting w cross join unnest(w.after) as u (id) join switchyard.yard o on o.action_uuid = u.id
    where w.action_uuid = p_uuid group by w.after), (
    select case when l.action_uuid is not null then format('It waits for the same computation: %s of %s (%s)', l.action_uuid, o.action_name, o.status)
      when r.not_before > clock_timestamp() then format('It starts, or gets the result of the same computation, at %s', switchyard.moment(r.not_before))
      else format('It is about to look for a result of the same computation by %s', r.workflow) end
    from switchyard.reuse r left join switchyard.reuse l on l.key = r.key and l.role in ('leads', 'result') and r.role = 'follows'
    left join switchyard.yard o on o.action_uuid = l.action_uuid
    where r.action_uuid = p_uuid), 'It waits for other actions')
$$;
comment on function switchyard.why_held is 'What an action waits for that no claim sees.';

create or replace function switchyard.why_waiting(t switchyard.thread, y switchyard.yard, out kind text, out sentence text, out facts jsonb, out place integer)
language plpgsql stable set search_path = switchyard, pg_temp as $$
declare
  most constant integer := 1000;
  p switchyard.paused;
  s record;
  also text := '';
  wait double precision := extract(epoch from nullif(y.due, 'infinity') - clock_timestamp());
begin
  place := 0; facts := '{}';
  select * into p from switchyard.paused x where x.action_name = t.action_name;
  select * into s from switchyard.served_by(t.action_name);
  if y.due = 'infinity' then
    kind := 'held';
    sentence := switchyard.why_held(t.action_uuid);
  elsif y.due > clock_timestamp() and t.status = 'BACKOFF' then
    kind := 'backoff';
    sentence := format('Attempt %s failed (%s); it is tried again in %s, at %s', t.attempt,
      coalesce(left(split_part(ltrim(t.error, E' \n\r\t'), E'\n', 1), 200), 'no error text'), switchyard.in_words(wait), switchyard.moment(y.due));
  elsif y.due > clock_timestamp() then
    kind := 'start';
    sentence := format('It starts in %s, at %s', switchyard.in_words(wait), switchyard.moment(y.due));
  elsif p.action_name is not null then
    kind := 'paused';
    sentence := format('%s is paused by %s since %s: %s', t.action_name, p.actor, switchyard.moment(p.paused_at), p.reason);
  elsif s.workers = 0 then
    kind := 'unserved';
    sentence := format('No conductor serves the action name %s', t.action_name);
  end if;
  if kind in ('held', 'backoff', 'start') then
    facts := jsonb_build_object('due', nullif(y.due, 'infinity'), 'error', t.error);
    also := case when p.action_name is not null then format('; %s is also paused by %s: %s', t.action_name, p.actor, p.reason)
      when s.workers = 0 then format('; no conductor serves the action name %s now', t.action_name) else '' end;
  elsif kind = 'paused' then
    facts := jsonb_build_object('actor', p.actor, 'reason', p.reason, 'since', p.paused_at);
  elsif kind is null and y.flow is not null then
    select w.kind, w.sentence, w.facts into kind, sentence, facts from switchyard.why_in_lane(y, most) as w;
  elsif kind is null then
    place := switchyard.place_of(t.action_name, t.priority, t.action_uuid, most);
    facts := jsonb_build_object('place', least(place, most), 'more', place > most, 'workers', s.workers, 'slots', s.slots,
      'tokens', s.tokens, 'breaker', s.breaker);
    sentence := case when place > most then format('More than %s are before it in the line of %s', most, t.action_name)
      when place = 1 then format('It is next in the line of %s', t.action_name)
      else format('It is number %s in the line of %s', place, t.action_name) end;
    if s.breaker < 1 then
      kind := 'breaker';
      sentence := sentence || format(', which its breaker has slowed to %s %% after errors', round((s.breaker * 100)::numeric, 1));
    elsif s.tokens < 1 then
      kind := 'rate';
      sentence := sentence || ', which is at its rate limit';
    else
      kind := 'in_line';
      sentence := sentence || format(', served by %s with %s', case s.workers when 1 then '1 worker' else s.workers || ' workers' end,
        case s.slots when 1 then '1 slot' else s.slots || ' slots' end);
    end if;
  end if;
  sentence := sentence || also;
end
$$;
comment on function switchyard.why_waiting is 'Why an action that nobody dispatches has not begun.';

create or replace function switchyard.why_members(p_set uuid, out kind text, out sentence text, out facts jsonb)
language plpgsql stable set search_path = switchyard, pg_temp as $$
declare
  c record;
  t record;
begin
  select * into t from switchyard.tally_of(p_set);
  select x.name, x.items, x.complete, x.paused_by, x.paused_because into c from switchyard.campaign x where x.action_uuid = p_set;
  kind := 'members';
  facts := jsonb_build_object('members', coalesce(c.items, t.added), 'open', t.open, 'ended', t.successful + t.unsuccessful);
  sentence := format('It ends with the last of its %s members: %s are open and %s have ended', coalesce(c.items, t.added), t.open, t.successful + t.unsuccessful)
    || case when c.paused_by is not null then format('; it was paused by %s: %s', c.paused_by, c.paused_because)
      when not c.complete then '; its source has not been read to the end' else '' end;
end
$$;
comment on function switchyard.why_members is 'Why a graph or a campaign has not ended.';

create or replace function switchyard.why_begun(t switchyard.thread, workflow text, out kind text, out sentence text, out facts jsonb)
language plpgsql stable set search_path = switchyard, pg_temp as $$
declare
  detail jsonb := switchyard.reported(t.action_uuid, t.run);
  since double precision := extract(epoch from clock_timestamp() - coalesce(t.started_at, t.last_update));
  reason text := coalesce(t.note, detail ->> 'reason', detail ->> 'message', detail ->> 'step');
begin
  facts := jsonb_build_object('since', t.started_at, 'reported', detail, 'reason', reason);
  if workflow is null and t.status = 'RUNNING' then
    kind := 'orphaned';
    sentence := 'Its conductor ended while dispatching it, and it is never sent twice (at_most_once): another conductor will record it as FAILED';
    return;
  end if;
  kind := 'at_backend';
  sentence := format('It was handed over to its backend %s ago and %s', switchyard.in_words(since),
    case t.status when 'RUNNING' then 'runs' else 'waits there' end)
    || coalesce(', ' || round(case jsonb_typeof(detail -> 'progress') when 'number' then (detail ->> 'progress')::numeric end * 100) || ' % done', '') || coalesce(': ' || left(reason, 200), '');
end
$$;
comment on function switchyard.why_begun is 'What an action does that was handed over, or whose conductor has died.';

create or replace function switchyard.why_detail(action_uuid uuid) returns jsonb
language plpgsql stable security definer set search_path = switchyard, pg_temp as $$
declare
  t switchyard.thread;
  y switchyard.yard;
  workflow text;
  holder uuid;
  r record;
  low double precision;
  high double precision;
  elapsed double precision := 0;
  delay double precision := 0;
begin
  select * into t from switchyard.thread x where x.action_uuid = why_detail.action_uuid;
  if not found then
    raise exception 'action_uuid: there is no action %', why_detail.action_uuid using errcode = 'no_data_found';
  end if;
  select a.workflow into workflow from switchyard.action a where a.action_uuid = why_detail.action_uuid;
  select * into y from switchyard.yard x where x.action_uuid = why_detail.action_uuid;
  holder := switchyard.holder_of(t.lock_id);
  if t.ended_at is not null then
    return jsonb_build_object('action_uuid', t.action_uuid, 'status', t.status, 'kind', 'ended', 'ended_at', t.ended_at, 'error', t.error,
      'sentence', format('It ended %s at %s%s.', t.status, switchyard.moment(t.ended_at), coalesce(': ' || nullif(t.note, ''), '')));
  elsif holder is not null and (t.status in ('PENDING', 'BACKOFF') or workflow is null) then
    select 'dispatching' as kind, format('A conductor is dispatching it now, attempt %s%s',
      t.attempt + (t.status in ('PENDING', 'BACKOFF'))::integer, coalesce(format(', on %s', w.host), '')) as sentence,
      jsonb_build_object('worker', w.worker_id, 'host', w.host) as facts
    into r from (select) as one left join switchyard.worker w on w.worker_id = holder;
  elsif t.status in ('PENDING', 'BACKOFF') then
    select * into r from switchyard.why_waiting(t, y);
  elsif exists (select from switchyard.sets s where s.action_uuid = t.action_uuid) then
    select * into r from switchyard.why_members(t.action_uuid);
  else
    select * into r from switchyard.why_begun(t, workflow);
  end if;
  if r.kind in ('dispatching', 'at_backend') then
    elapsed := coalesce(extract(epoch from clock_timestamp() - t.started_at), 0);
  elsif r.kind in ('start', 'backoff') then
    delay := extract(epoch from y.due - clock_timestamp());
  end if;
  -- Nothing records how fast a single lane moves.
  if r.kind not in ('paused', 'unserved', 'held', 'orphaned', 'members') and (r.facts -> 'more') is distinct from 'true' and r.facts -> 'flow' is null then
    select e.low + delay, e.high + delay into low, high
    from switchyard.estimated_seconds(t.action_name, workflow, elapsed, coalesce((r.facts ->> 'place')::integer, 0)) as e;
  end if;
  return jsonb_strip_nulls(jsonb_build_object('action_uuid', t.action_uuid, 'status', t.status, 'kind', r.kind, 'sentence', r.sentence || case
      when high is not null then format('. It will probably end in %s to %s.', switchyard.in_words(low), switchyard.in_words(high))
      else '.' end) || r.facts
    || case when high is not null then jsonb_build_object('estimate', jsonb_build_object(
      'low_seconds', round(low::numeric, 3), 'high_seconds', round(high::numeric, 3), 'share', 0.8)) else '{}' end);
end
$$;
comment on function switchyard.why_detail is 'Why an action has not ended, as facts: kind, sentence, estimate and what the kind is about.';

create or replace function switchyard.why(action_uuid uuid) returns text
language sql stable security definer set search_path = switchyard, pg_temp as $$ select switchyard.why_detail(action_uuid) ->> 'sentence' $$;
comment on function switchyard.why is 'Why an action has not ended, in one sentence.';
