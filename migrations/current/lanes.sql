-- Lanes: exact limits and fair turns for a flow (an action name, or one workflow of it). ADR 0131 has the protocol.
--
-- Claims of a flow run one at a time (an advisory lock until the end of the statement, milliseconds). There are no counters that
-- could leak: a session's row lists its actions in flight, and every claim replaces the list by those that the session reports as still
-- held and those it claims now. A session that died has no locks: its row is deleted four seconds later. A lane's in_flight is the sum over these
-- rows, changed in the same transaction.

create or replace function switchyard.lane_at(p_parameters jsonb, p_path jsonpath) returns text
language plpgsql immutable parallel safe as $$
declare
  found jsonb := jsonb_path_query_first(p_parameters, p_path, '{}', true);
begin
  if jsonb_typeof(found) in ('object', 'array') then
    raise exception 'lane: % finds an %, not a text', p_path, jsonb_typeof(found) using errcode = 'invalid_parameter_value';
  elsif length(found #>> '{}') not between 1 and 200 then
    raise exception 'lane: what % finds has % characters; 1 to 200 are allowed', p_path, length(found #>> '{}')
      using errcode = 'invalid_parameter_value';
  end if;
  return found #>> '{}';
end
$$;
comment on function switchyard.lane_at is 'The lane that a path finds in the parameters; null where it finds nothing.';

-- For actions that were submitted before their name had a path: they cannot be refused any more.
create or replace function switchyard.lane_or_none(p_parameters jsonb, p_path jsonpath) returns text
language sql immutable parallel safe as $$
  select case when jsonb_typeof(p.found) not in ('object', 'array') and length(p.found #>> '{}') between 1 and 200 then p.found #>> '{}' end
  from (select jsonb_path_query_first(p_parameters, p_path, '{}', true) as found) as p
$$;
comment on function switchyard.lane_or_none is 'The same, but null where what the path finds cannot be a lane.';

-- An action that has waited for `aging` seconds goes before a new one whose priority is smaller by one. A rank never changes: all actions
-- age at the same rate, so the order of two actions is fixed when the second is submitted.
create or replace function switchyard.rank_of(p_priority smallint, p_uuid uuid, p_aging double precision) returns bigint
language sql immutable parallel safe as $$
  select case when p_aging is null then p_priority
    else p_priority * (1000 * p_aging)::bigint + (1000 * extract(epoch from switchyard.uuid_time(p_uuid)))::bigint end
$$;
comment on function switchyard.rank_of is 'The place in its lane of an action with that priority: smaller goes first.';

create or replace function switchyard.flow_of(p_uuid uuid, out flow text, out lane text, out rank bigint)
language sql stable as $$
  select coalesce(w.flow, n.flow),
    case when n.flow is not null then coalesce(a.lane, switchyard.lane_or_none(a.parameters, n.lane_path), '') end,
    case when coalesce(w.flow, n.flow) is not null then switchyard.rank_of(a.priority, a.action_uuid, n.priority_aging) end
  from switchyard.action a
  left join switchyard.flow n on n.action_name = a.action_name and n.workflow is null
  left join switchyard.flow w on w.action_name = a.action_name and w.workflow = a.workflow
  where a.action_uuid = p_uuid
$$;
comment on function switchyard.flow_of is 'The flow, the lane and the rank of an action; null where its name has no lanes and limits.';

-- One group with each claim: a single statement for a long queue would exceed the statement timeout. Each action arrives again, at its new place.
create or replace function switchyard.rerank(p_flow switchyard.flow) returns void
language plpgsql volatile as $$
declare
  group_size constant integer := 2000;
  ids uuid[] := array(
    select y.action_uuid from switchyard.yard y where y.action_uuid > p_flow.reranked and y.flow = p_flow.flow
    order by y.action_uuid limit group_size);
begin
  update switchyard.yard y set rank = switchyard.rank_of(y.priority, y.action_uuid, p_flow.priority_aging), entered = pg_current_xact_id()
  from unnest(ids) as k (id)
  where y.action_uuid = k.id and y.rank <> switchyard.rank_of(y.priority, y.action_uuid, p_flow.priority_aging);
  update switchyard.flow f set reranked = case when cardinality(ids) = group_size then ids[group_size] end where f.flow = p_flow.flow;
end
$$;
comment on function switchyard.rerank is 'Gives the next open actions of a flow the ranks that its new priority_aging means.';

-- If a workflow of a name has a flow, the name has one as well. Strays are rows of the yard without a flow: they were inserted before
-- the flow was announced, or by a transaction that was open then. They are moved to the lane that they would have had.
create or replace function switchyard.adopt_strays(p_action_name text) returns void
language sql volatile as $$
  with adopted as (
    update switchyard.yard y set flow = o.flow, lane = o.lane, rank = o.rank, entered = pg_current_xact_id()
    from (
      select z.action_uuid from switchyard.yard z
      where z.action_name = p_action_name and z.flow is null and z.status in ('PENDING', 'BACKOFF') and z.due is null
      order by z.priority, z.action_uuid limit 1000 for update skip locked) as s, lateral switchyard.flow_of(s.action_uuid) as o
    where y.action_uuid = s.action_uuid
    returning y.action_uuid, y.lane
  )
  update switchyard.action a set lane = d.lane from adopted d
  where a.action_uuid = d.action_uuid and a.lane is null and d.lane <> ''
$$;
comment on function switchyard.adopt_strays is 'Gives ready actions of a name their flow and lane, where they have none.';

-- Session locks end with the connection: a session that acquires (1937204084, session) knows that the other one has ended.
create or replace function switchyard.flow_session_number() returns bigint
language plpgsql volatile as $$
declare
  number bigint := nullif(current_setting('switchyard.flow_session', true), '');
begin
  if number is null then
    number := nextval('switchyard.flow_session_id') % 2147483647;
    perform pg_advisory_lock_shared(1937204084, number::integer);
    perform set_config('switchyard.flow_session', number::text, false);
  end if;
  return number;
end
$$;
comment on function switchyard.flow_session_number is 'The number of this session; it holds the lock (1937204084, number) for as long as it lives.';

-- Every ready row behind its lane's position is in early, and a lane with such a row is not empty.
create or replace function switchyard.lanes_arrive(p_state switchyard.flow_state, p_flow switchyard.flow, p_lanes text[], p_ranks bigint[], p_uuids uuid[])
returns void language plpgsql volatile as $$
begin
  insert into switchyard.lane (flow, lane, seq, vtime, tokens, refilled, weight)
  -- In the order of their first actions: neighbours in the queue are then neighbours on its pages too. Each has a time of its own, a
  -- millionth apart: with equal ones the index would be walked over those that had their turn.
  select p_flow.flow, d.lane, p_state.seq + 1, p_state.vnow + 1e-6 * row_number() over (order by d.id), p_flow.lane_burst, clock_timestamp(),
    coalesce((p_flow.weights ->> d.lane)::double precision, 1)
  from (select distinct on (a.lane) a.lane, a.id from unnest(p_lanes, p_uuids) as a (lane, id) order by a.lane, a.id) as d
  where (select x.seq from switchyard.lane x where (x.flow || '') = p_flow.flow and x.lane = d.lane limit 1) is null;
  update switchyard.lane l set seq = p_state.seq + 1,
    early = case when e.many then '{}' else l.early || e.early end,
    from_rank = case when e.many then -9223372036854775808 else l.from_rank end,
    from_uuid = case when e.many then '00000000-0000-0000-0000-000000000000' else l.from_uuid end,
    vtime = case when l.state = 'empty' then greatest(l.vtime, p_state.vnow) else l.vtime end,
    state = case when l.state = 'empty' then 'ready' else l.state end
  from (
    select n.at, b.early, cardinality(n.early) + cardinality(b.early) > 1000 as many
    from (select a.lane, array_agg(a.rank) as ranks, array_agg(a.id) as ids
          from unnest(p_lanes, p_ranks, p_uuids) as a (lane, rank, id) group by a.lane) as g
    cross join lateral (
      select x.ctid as at, x.state, x.from_rank, x.from_uuid, x.early from switchyard.lane x
      where (x.flow || '') = p_flow.flow and x.lane = g.lane order by x.seq desc limit 1) as n
    cross join lateral (
      select coalesce(array_agg(distinct k.id), '{}') as early from unnest(g.ranks, g.ids) as k (rank, id)
      where (k.rank, k.id) <= (n.from_rank, n.from_uuid) and k.id <> all (n.early)) as b
    where n.state = 'empty' or b.early <> '{}' offset 0) as e
  where l.ctid = e.at; -- by its place: joined by its key, a plan made while the table was empty walks all lanes for each
end
$$;
comment on function switchyard.lanes_arrive is 'Updates lanes for rows that became ready: new lanes, empty ones, and what lies behind their positions.';

-- Too many arrivals to read one by one: every lane with a ready row starts at its front again.
create or replace function switchyard.lanes_restart(p_state switchyard.flow_state, p_flow switchyard.flow) returns void
language plpgsql volatile as $$
declare
  names text[];
  ranks bigint[];
  ids uuid[];
begin
  with recursive hop (lane, rank, id) as (
    (select y.lane, y.rank, y.action_uuid from switchyard.yard y
     where (y.flow || '') = p_flow.flow and y.flow is not null and y.status in ('PENDING', 'BACKOFF') and y.due is null
     order by y.lane, y.rank, y.action_uuid limit 1)
    union all
    select n.* from hop h, lateral (
      select y.lane, y.rank, y.action_uuid from switchyard.yard y
      where (y.flow || '') = p_flow.flow and y.flow is not null and y.status in ('PENDING', 'BACKOFF') and y.due is null and y.lane > h.lane
      order by y.lane, y.rank, y.action_uuid limit 1) as n
  )
  select array_agg(h.lane), array_agg(h.rank), array_agg(h.id) into names, ranks, ids from hop h;
  if names is null then
    return;
  end if;
  perform switchyard.lanes_arrive(p_state, p_flow, names, ranks, ids);
  update switchyard.lane l set seq = p_state.seq + 1, from_rank = -9223372036854775808, from_uuid = '00000000-0000-0000-0000-000000000000', early = '{}'
  from (
    select n.at from unnest(names) as k (lane), lateral (
      select x.ctid as at, x.from_rank, x.early from switchyard.lane x
      where (x.flow || '') = p_flow.flow and x.lane = k.lane order by x.seq desc limit 1) as n
    where n.from_rank > -9223372036854775808 or n.early <> '{}' offset 0) as e
  where l.ctid = e.at;
end
$$;
comment on function switchyard.lanes_restart is 'Every lane with ready rows is looked at from its front.';

create or replace function switchyard.lanes_freed(p_state switchyard.flow_state, p_flow switchyard.flow, p_lanes text[]) returns void
language sql volatile as $$
  update switchyard.lane l set seq = p_state.seq + 1, in_flight = l.in_flight - r.less, vtime = greatest(l.vtime, p_state.vnow),
    -- Where executions at the backend count, a lane that waits may wait for this slot.
    state = case when l.state = 'full' or (l.state = 'waiting' and p_flow.lane_running is not null) then 'ready' else l.state end
  from (
    select n.at, g.less from (select a.lane, count(*)::integer as less from unnest(p_lanes) as a (lane) group by a.lane) as g
    cross join lateral (
      select x.ctid as at from switchyard.lane x where (x.flow || '') = p_state.flow and x.lane = g.lane order by x.seq desc limit 1) as n
    offset 0) as r
  where l.ctid = r.at
$$;
comment on function switchyard.lanes_freed is 'Slots of those lanes came free, one for each time that a lane is named.';

create or replace function switchyard.lanes_slowed(p_state switchyard.flow_state, p_floor double precision, p_lanes text[], p_factors double precision[])
returns void language sql volatile as $$
  update switchyard.lane l set seq = p_state.seq + 1, factor = least(1, greatest(p_floor, l.factor * r.factor))
  from (
    select n.at, g.factor from unnest(p_lanes, p_factors) as g (lane, factor)
    cross join lateral (
      select x.ctid as at from switchyard.lane x where (x.flow || '') = p_state.flow and x.lane = g.lane order by x.seq desc limit 1) as n
    offset 0) as r
  where l.ctid = r.at
$$;
comment on function switchyard.lanes_slowed is 'The breaker multiplies what is left of the limits of those lanes.';

create or replace function switchyard.flow_arrivals(
  p_flow switchyard.flow, p_seen pg_snapshot, p_flying uuid[],
  out arrived bigint, out first_due timestamptz, out lanes text[], out ranks bigint[], out ids uuid[]
) language plpgsql stable as $$
declare
  top xid8 := pg_snapshot_xmax(p_seen);
  open_then xid8[] := array(select pg_snapshot_xip(p_seen));
begin
  select count(*), min(n.due), coalesce(array_agg(n.lane) filter (where n.ready), '{}'),
    coalesce(array_agg(n.rank) filter (where n.ready), '{}'), coalesce(array_agg(n.action_uuid) filter (where n.ready), '{}')
  into arrived, first_due, lanes, ranks, ids
  from (
    select z.*, z.flow = p_flow.flow and z.due is null
      and p_flying[width_bucket(z.action_uuid, p_flying)] is distinct from z.action_uuid as ready
    from (
      (select z.action_uuid, z.action_name, z.flow, z.lane, z.rank, z.due from switchyard.yard z
       where hashtext(z.action_name) = hashtext(p_flow.action_name) and z.status in ('PENDING', 'BACKOFF') and z.entered >= top
       order by z.entered limit 5001)
      union all
      select w.* from unnest(open_then) as o (id), lateral (
        select z.action_uuid, z.action_name, z.flow, z.lane, z.rank, z.due from switchyard.yard z
        where hashtext(z.action_name) = hashtext(p_flow.action_name) and z.status in ('PENDING', 'BACKOFF') and z.entered = o.id
        offset 0) as w
      limit 5001) as z
    where z.action_name = p_flow.action_name) as n;
end
$$;
comment on function switchyard.flow_arrivals is 'What became ready or began to wait since that snapshot and is not in flight.';

-- A crash of the server may lose the last claims and the tokens they spent: the flow starts with no tokens.
create or replace function switchyard.refilled(p_tokens double precision, p_at timestamptz, p_now timestamptz, p_rate double precision, p_burst double precision)
returns double precision language sql stable as $$
  select least(p_burst, case when p_at < pg_postmaster_start_time() then 0 else coalesce(p_tokens, p_burst) end
    + greatest(0, extract(epoch from p_now - greatest(p_at, pg_postmaster_start_time()))) * p_rate)
$$;
comment on function switchyard.refilled is 'The tokens of a bucket now; null without a rate.';

-- 1. Actions that this session no longer holds, and those of dead sessions, are no longer in flight. Those of them that are ready are
--    stamped: they were released without an outcome, or a new run of them was opened meanwhile.
-- 2. Strays are adopted; due actions become ready; lanes are updated for arrivals since the last claim's snapshot; lanes that have
--    tokens again become ready.
-- 3. Ready lanes in the order of their virtual time, the head of each, at most quantum x weight, its free slots and its tokens.
--    Try locks, look again in a new statement, write the lane. If slots are left and every lane had its turn: again, with four
--    times the quantum. A large claim starts with a larger quantum: it writes fewer lanes, and its actions start at the same time anyway.
-- The later commit of the outcome also flushes this one, so it need not wait for the disk.
create or replace function switchyard.lane_claim(
  p_flow text, p_limit integer, p_held uuid[] default '{}', p_slowed text[] default '{}', p_factors double precision[] default '{}',
  out uuids uuid[], out runs integer[], out attempts integer[], out lock_ids bigint[], out limited boolean, out next_due timestamptz,
  out held_back boolean, out lanes text[]
) language plpgsql security definer
set search_path = switchyard, pg_temp set plan_cache_mode = force_generic_plan
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_variable
declare
  quantum constant integer := 8;
  page_rows constant integer := 100; -- of empty lanes that a pass looks at beside what it takes
  grace constant interval := '4 s'; -- within which a conductor notices that its session ended, and cancels what it has sent
  f switchyard.flow;
  st switchyard.flow_state;
  mine switchyard.flow_session;
  number bigint := switchyard.flow_session_number();
  snap pg_snapshot;
  moment timestamptz;
  until timestamptz;
  held uuid[] := p_held;
  kept_ids uuid[] := '{}'; kept_lanes text[] := '{}';
  freed_ids uuid[] := '{}'; freed_lanes text[] := '{}';
  flying uuid[];
  dead bigint[];
  new_lanes text[]; new_ranks bigint[]; new_uuids uuid[]; arrived bigint; late timestamptz;
  due_lanes text[]; due_ranks bigint[]; due_uuids uuid[]; due_strays boolean := false;
  docked_lanes text[] := '{}'; docked_counts bigint[] := '{}'; docked bigint := 0;
  one integer; -- where lanes have a limit; the breaker leaves at least this
  foreign_now uuid[] := '{}'; strangers uuid[]; -- held by others than the sessions of the flow
  room integer; passes integer := 0; turns integer := greatest(quantum, p_limit / 16);
  c_lane_at tid[]; c_lane text[]; c_take integer[]; c_at tid[]; c_uuid uuid[]; c_lock bigint[]; c_rank bigint[];
  ok boolean[]; ok2 boolean[]; w_uuid uuid[]; w_run integer[]; w_attempt integer[]; w_lock bigint[]; w_lane text[];
  got integer; same bigint; first_runs bigint; first_attempts bigint; first_locks bigint; same_runs bigint; same_attempts bigint; same_locks bigint;
  candidates integer; found_rows integer; last_vtime double precision; page_full boolean; v_min double precision; settled integer;
begin
  uuids := '{}'; runs := '{}'; attempts := '{}'; lock_ids := '{}'; limited := true; held_back := false; lanes := '{}';
  begin
    perform pg_advisory_xact_lock(1937204083, hashtext(p_flow));
  exception when lock_not_available then
    lanes := null; -- nothing was looked at, and p_slowed not taken over
    return; -- another claim takes long; an error would cost the caller its session, and all that it has in flight
  end;
  perform set_config('synchronous_commit', 'off', true);
  select * into f from switchyard.flow x where x.flow = p_flow;
  if not found then
    return;
  end if;
  if f.reranked is not null then
    perform switchyard.rerank(f);
  end if;
  select * into st from switchyard.flow_state s where s.flow = p_flow order by s.seq desc limit 1;
  if not found then
    insert into switchyard.flow_state (flow, seq) values (p_flow, 0) returning * into st;
  end if;
  -- To be remembered: older than the snapshot of every statement below, so what it shows, all of them have seen.
  snap := pg_current_snapshot();
  moment := clock_timestamp();
  if cardinality(held) > 1 then
    held := (select array_agg(h order by h) from unnest(p_held) as h);
  end if;

  -- 1. The flight.
  select * into mine from switchyard.flow_session s where s.flow = p_flow and s.session = number order by s.seq desc limit 1;
  if not found then
    insert into switchyard.flow_session (flow, session, seq) values (p_flow, number, 0) returning * into mine;
  end if;
  if held = '{}' then
    freed_ids := mine.ids; freed_lanes := mine.lanes;
  elsif mine.ids <> '{}' then
    select coalesce(array_agg(k.id) filter (where k.still), '{}'), coalesce(array_agg(k.lane) filter (where k.still), '{}'),
      coalesce(array_agg(k.id) filter (where not k.still), '{}'), coalesce(array_agg(k.lane) filter (where not k.still), '{}')
    into kept_ids, kept_lanes, freed_ids, freed_lanes
    from (
      select m.id, m.lane, coalesce(held[width_bucket(m.id, held)] = m.id, false) as still
      from unnest(mine.ids, mine.lanes) as m (id, lane)) as k;
  end if;
  if moment not between st.swept and st.swept + interval '250 ms' then -- before it: the server's clock was set back
    st.swept := moment;
    select array_agg(distinct s.session) into dead from switchyard.flow_session s where s.flow = p_flow and s.session <> number;
    select array_agg(d) into dead from unnest(dead) as d where pg_try_advisory_lock(1937204084, d::integer);
    if dead is not null then
      perform pg_advisory_unlock(1937204084, d::integer) from unnest(dead) as d;
      update switchyard.flow_session s set dead_at = moment where s.flow = p_flow and s.session = any (dead) and s.dead_at is null;
      with gone as (
        delete from switchyard.flow_session s
        where s.flow = p_flow and s.session = any (dead) and s.dead_at not between moment - grace and moment returning s.ids, s.lanes
      )
      select freed_ids || coalesce(array_agg(k.id), '{}'), freed_lanes || coalesce(array_agg(k.lane), '{}')
      into freed_ids, freed_lanes from gone g, unnest(g.ids, g.lanes) as k (id, lane);
    end if;
  end if;
  if freed_ids <> '{}' then
    perform switchyard.lanes_freed(st, f, freed_lanes);
    st.seq := st.seq + 1;
    st.in_flight := st.in_flight - cardinality(freed_ids);
    update switchyard.yard y set entered = pg_current_xact_id()
    from (
      select w.ctid as at, w.status, w.due from switchyard.yard w where w.action_uuid = any (freed_ids) offset 0) as r
    where y.ctid = r.at and r.status in ('PENDING', 'BACKOFF') and r.due is null;
  end if;
  select coalesce(array_agg(k.id order by k.id), '{}') into flying
  from (
    select unnest(kept_ids) as id
    union all
    select unnest(s.ids) from switchyard.flow_session s where s.flow = p_flow and s.session <> number) as k;
  if p_slowed <> '{}' then
    perform switchyard.lanes_slowed(st, f.breaker_floor, p_slowed, p_factors);
    st.seq := st.seq + 1;
  end if;

  -- 2. What became ready.
  if exists (
    select from switchyard.yard z
    where z.action_name = f.action_name and z.flow is null and z.status in ('PENDING', 'BACKOFF') and z.due is null) then
    perform switchyard.adopt_strays(f.action_name);
  end if;
  select a.arrived, a.first_due, a.lanes, a.ranks, a.ids into arrived, late, new_lanes, new_ranks, new_uuids
  from switchyard.flow_arrivals(f, st.seen, flying) as a;
  st.waited := case when arrived > 5000 then '-infinity' else least(st.waited, late) end;
  select min(w.due) into next_due from switchyard.yard w
  where w.action_name = f.action_name and w.status in ('PENDING', 'BACKOFF') and w.due is not null and w.due >= st.waited;
  if next_due <= moment then
    with ready as (
      update switchyard.yard y set due = null, entered = pg_current_xact_id()
      where y.action_uuid in (
        select w.action_uuid from switchyard.yard w
        where w.action_name = f.action_name and w.status in ('PENDING', 'BACKOFF') and w.due is not null
          and w.due >= st.waited and w.due <= moment
        order by w.due limit greatest(4 * p_limit, 1000) for update skip locked)
      returning y.flow, y.lane, y.rank, y.action_uuid
    )
    select array_agg(r.lane) filter (where r.ours), array_agg(r.rank) filter (where r.ours),
      array_agg(r.action_uuid) filter (where r.ours), coalesce(bool_or(r.flow is null), false)
    into due_lanes, due_ranks, due_uuids, due_strays
    from (
      select w.*, w.flow = p_flow and flying[width_bucket(w.action_uuid, flying)] is distinct from w.action_uuid as ours
      from ready w) as r;
    new_lanes := new_lanes || due_lanes; new_ranks := new_ranks || due_ranks; new_uuids := new_uuids || due_uuids;
    select min(w.due) into next_due from switchyard.yard w
    where w.action_name = f.action_name and w.status in ('PENDING', 'BACKOFF') and w.due is not null and w.due >= st.waited;
  end if;
  st.waited := least(next_due, moment);
  if arrived > 5000 then
    perform switchyard.lanes_restart(st, f);
    st.seq := st.seq + 1;
  elsif new_lanes <> '{}' then
    perform switchyard.lanes_arrive(st, f, new_lanes, new_ranks, new_uuids);
    st.seq := st.seq + 1;
  end if;
  if moment < st.tokened then
    st.tokened := '-infinity'; -- the server's clock was set back: all that waits is looked at again
    until := 'infinity';
  end if;
  update switchyard.lane l set seq = st.seq + 1, state = 'ready', vtime = greatest(l.vtime, st.vnow), next_at = null
  where l.flow = p_flow and l.state = 'waiting' and l.next_at >= st.tokened and l.next_at <= coalesce(until, moment);
  st.seq := st.seq + 1;
  st.tokened := moment;
  if f.running is not null or f.lane_running is not null then
    select coalesce(array_agg(d.lane), '{}'), coalesce(array_agg(d.count), '{}'), coalesce(sum(d.count), 0)
    into docked_lanes, docked_counts, docked
    from (
      select y.lane, count(*) from switchyard.yard y
      where y.action_name = f.action_name and y.status in ('QUEUED', 'RUNNING') and y.flow = p_flow
        and flying[width_bucket(y.action_uuid, flying)] is distinct from y.action_uuid
      group by y.lane) as d;
  end if;

  -- 3. Whose turn it is.
  one := case when f.lane_in_flight is not null then 1 end;
  st.tokens := switchyard.refilled(st.tokens, st.refilled, moment, f.rate, f.burst);
  st.refilled := moment;
  room := greatest(0, least(p_limit, f.in_flight - st.in_flight, f.running - st.in_flight - docked, floor(st.tokens + 1e-9)));
  if exists (select from switchyard.paused p where p.action_name = f.action_name) then
    room := 0;
    next_due := null;
  end if;
  while room > 0 and passes < 100 loop
    passes := passes + 1;
    select array_agg(c.lane_at), array_agg(c.lane), array_agg(c.take), array_agg(c.action_uuid), array_agg(c.lock_id), array_agg(c.rank),
      array_agg(c.run), array_agg(c.attempt), array_agg(c.at), max(c.vtime), count(c.action_uuid), count(*),
      sum(c.run), sum(c.attempt), bit_xor(c.lock_id)
    into c_lane_at, c_lane, c_take, c_uuid, c_lock, c_rank, w_run, w_attempt, c_at, last_vtime, candidates, found_rows,
      first_runs, first_attempts, first_locks
    from (select p.* from (
      -- A lane that turns out to be empty takes up no room: a claim of one would else look at one lane in each pass.
      select l.at as lane_at, l.lane, l.take, l.vtime, y.at, y.action_uuid, y.lock_id, y.rank, y.run, y.attempt,
        count(y.action_uuid) over (rows between unbounded preceding and current row) as nth
      from (
        select x.ctid as at, x.*, greatest(0, least(room, greatest(1, round(turns * x.weight)),
          greatest(one, floor(f.lane_in_flight * x.factor)) - x.in_flight,
          f.lane_running - x.in_flight - coalesce((select d.n from unnest(docked_lanes, docked_counts) as d (lane, n) where d.lane = x.lane), 0),
          floor(1e-9 + switchyard.refilled(x.tokens, x.refilled, moment, f.lane_rate * x.factor, f.lane_burst))))::integer as take
        from switchyard.lane x where x.flow = p_flow and x.state = 'ready' and x.vtime >= st.vnow
        order by x.vtime, x.lane offset 0) as l
      left join lateral (
        select u.* from (
          select e.at, e.action_uuid, e.lock_id, e.rank, e.run, e.attempt from unnest(l.early) as k (id) cross join lateral (
            select z.ctid as at, z.* from switchyard.yard z where z.action_uuid = k.id offset 0) as e
          where e.status in ('PENDING', 'BACKOFF') and e.due is null
            and flying[width_bucket(e.action_uuid, flying)] is distinct from e.action_uuid
          union all
          (select z.ctid as at, z.action_uuid, z.lock_id, z.rank, z.run, z.attempt from switchyard.yard z
           where (z.flow || '') = p_flow and z.flow is not null and z.lane = l.lane and z.status in ('PENDING', 'BACKOFF') and z.due is null
             and (z.rank, z.action_uuid) > (l.from_rank, l.from_uuid) and z.action_uuid <> all (l.early)
             and flying[width_bucket(z.action_uuid, flying)] is distinct from z.action_uuid
           order by z.rank, z.action_uuid limit l.take)) as u
        order by u.rank, u.action_uuid limit l.take) as y on true) as p
      where p.nth <= room limit room + page_rows) as c;
    if c_lane is null then -- nothing is ready: no virtual time up to here will be used again
      st.vnow := greatest(st.vnow, st.vmax) + 1e-6;
      exit;
    end if;
    page_full := candidates = room or found_rows = room + page_rows;
    select array_agg(t.got), count(*) filter (where t.got) into ok, got
    from (
      select c.id is not null and switchyard.try_lock_unless_held(c.id, c.lock, held) as got from unnest(c_uuid, c_lock) as c (id, lock)
      offset 0) as t;
    -- In a new statement, so with a new snapshot: is it still processable? Every change of a row gives it another place, so
    -- equal sums over the same places mean that none has changed. Else each is looked at by itself.
    select count(*) filter (where y.status in ('PENDING', 'BACKOFF') and y.due is null), sum(y.run), sum(y.attempt), bit_xor(y.lock_id)
    into same, same_runs, same_attempts, same_locks from switchyard.yard y where y.ctid = any (c_at);
    if got = candidates and same = got
      and (same_runs, same_attempts, same_locks) is not distinct from (first_runs, first_attempts, first_locks) then
      w_uuid := c_uuid; w_lock := c_lock; w_lane := c_lane; ok2 := ok;
      if candidates < found_rows then -- lanes that have nothing
        select coalesce(array_agg(c.id), '{}'), array_agg(c.lock), array_agg(c.lane), array_agg(c.run), array_agg(c.attempt)
        into w_uuid, w_lock, w_lane, w_run, w_attempt
        from unnest(c_uuid, c_lock, c_lane, w_run, w_attempt) as c (id, lock, lane, run, attempt) where c.id is not null;
      end if;
      strangers := '{}';
    else
      select array_agg(y.action_uuid is not null), coalesce(array_agg(y.action_uuid) filter (where y.action_uuid is not null), '{}'),
        array_agg(y.run) filter (where y.action_uuid is not null), array_agg(y.attempt) filter (where y.action_uuid is not null),
        array_agg(y.lock_id) filter (where y.action_uuid is not null), array_agg(c.lane) filter (where y.action_uuid is not null)
      into ok2, w_uuid, w_run, w_attempt, w_lock, w_lane
      from unnest(c_uuid, ok, c_lane) as c (id, ok, lane) left join lateral (
        select z.action_uuid, z.run, z.attempt, z.lock_id from switchyard.yard z
        where c.ok and z.action_uuid = c.id and z.status in ('PENDING', 'BACKOFF') and z.due is null offset 0) as y on true;
      got := cardinality(w_uuid);
      strangers := array(select c.id from unnest(c_uuid, ok) as c (id, ok) where c.id is not null and not c.ok);
      perform pg_advisory_unlock(c.lock) from unnest(c_lock, ok, ok2) as c (lock, ok, ok2) where c.ok and not c.ok2;
    end if;
    with looked_at as (
      select c.lane_at, min(c.take) as take, count(c.id) as candidates, count(*) filter (where c.ok2)::integer as got,
        coalesce(array_agg(c.id) filter (where c.id is not null and not c.ok), '{}') as foreigners,
        max(c.place) filter (where c.id is not null) as last, -- by its place: the sort under GROUP BY does not keep the order of the page
        page_full and bool_or(c.place = found_rows and c.id is not null) as cut
      from unnest(c_lane_at, c_take, c_uuid, ok, ok2) with ordinality as c (lane_at, take, id, ok, ok2, place)
      group by c.lane_at
    ), moved as (
      update switchyard.lane l set seq = st.seq + 1,
        vtime = l.vtime + s.got / l.weight, in_flight = l.in_flight + s.got,
        tokens = n.tokens, refilled = moment, early = n.early,
        from_rank = case when n.further then c_rank[s.last] else l.from_rank end,
        from_uuid = case when n.further then c_uuid[s.last] else l.from_uuid end,
        state = n.state,
        since = case when n.state in ('full', 'waiting') then case when s.got > 0 then moment else coalesce(l.since, moment) end end,
        next_at = case when n.state = 'waiting' then moment + case when n.pause then interval '500 ms'
          else make_interval(secs => (1 - n.tokens) / n.rate) end end
      from looked_at s
      cross join lateral (select x.ctid as at, x.* from switchyard.lane x where x.ctid = s.lane_at offset 0) as o -- nobody else moves it: the mutex
      cross join lateral (
        select f.lane_rate * o.factor as rate, s.candidates < s.take and not s.cut as ended,
          switchyard.refilled(o.tokens, o.refilled, moment, f.lane_rate * o.factor, f.lane_burst) - s.got as tokens,
          -- All that is left of an exhausted lane is what others hold.
          s.foreigners || array(select k.id from unnest(o.early) as k (id) where not coalesce(k.id = any (c_uuid), false)
            and (s.candidates >= s.take or s.cut or k.id = any (foreign_now))) as early
      ) as m
      cross join lateral (
        select m.tokens, m.early, m.rate, m.ended or f.lane_running is not null as pause,
          (c_rank[s.last], c_uuid[s.last]) > (o.from_rank, o.from_uuid) as further,
          case when m.ended and m.early = '{}' then 'empty'
            when m.ended then 'waiting'
            when o.in_flight + s.got >= greatest(one, floor(f.lane_in_flight * o.factor)) then 'full'
            when o.in_flight + s.got >= f.lane_running - coalesce((select d.n from unnest(docked_lanes, docked_counts) as d (lane, n) where d.lane = o.lane), 0) then 'waiting'
            when m.tokens < 1 - 1e-9 then 'waiting'
            else 'ready' end as state) as n
      where l.ctid = o.at
      returning l.vtime, l.state
    )
    select min(m.vtime) filter (where m.state = 'ready'), count(*) filter (where m.state <> 'ready') into v_min, settled from moved m;
    st.vnow := greatest(st.vnow, least(last_vtime, v_min));
    st.vmax := greatest(st.vmax, last_vtime);
    st.seq := st.seq + 1; -- lanes may be moved again by the next pass
    uuids := uuids || w_uuid; runs := runs || w_run; attempts := attempts || w_attempt; lock_ids := lock_ids || w_lock;
    lanes := lanes || w_lane; kept_ids := kept_ids || w_uuid; kept_lanes := kept_lanes || w_lane;
    if room > got then
      select array_agg(k.id order by k.id) into flying from unnest(flying || w_uuid || strangers) as k (id);
      foreign_now := foreign_now || strangers;
    end if;
    room := room - got;
    st.in_flight := st.in_flight + got;
    st.tokens := st.tokens - got;
    exit when got = 0 and settled = 0 and strangers = '{}';
    if not page_full then
      turns := 4 * turns; -- every ready lane had its turn, and there is still room
    end if;
  end loop;
  if (passes = 100 and room > 0) or due_strays then
    next_due := moment; -- there may be more, or the next claim adopts what became ready: look again at once
  end if;

  update switchyard.flow_session s set seq = mine.seq + 1, ids = kept_ids, lanes = kept_lanes
  where s.flow = p_flow and s.session = number and s.seq = mine.seq and (s.ids <> '{}' or kept_ids <> '{}');
  update switchyard.flow_state s set seq = st.seq + 1, vnow = st.vnow, vmax = st.vmax, seen = snap, waited = st.waited,
    tokened = st.tokened, swept = st.swept, in_flight = st.in_flight, tokens = st.tokens, refilled = st.refilled
  where s.flow = p_flow and s.seq = (select x.seq from switchyard.flow_state x where x.flow = p_flow order by x.seq desc limit 1);
  limited := st.in_flight + docked > cardinality(kept_ids);
  select nullif(least(next_due, w.next_at, case when st.tokens < 1 then moment + make_interval(secs => (1 - st.tokens) / f.rate) end), 'infinity'),
    (w.next_at is not null and f.lane_running is null) or (st.tokens < 1 and exists (
      select from switchyard.lane x where x.flow = p_flow and x.state = 'ready' and x.vtime >= st.vnow))
  into next_due, held_back
  from (select (
    select l.next_at from switchyard.lane l where l.flow = p_flow and l.state = 'waiting' and l.next_at >= st.tokened
    order by l.next_at limit 1) as next_at) as w;
end
$$;
comment on function switchyard.lane_claim is 'Locks and returns up to p_limit actions of a flow, within its limits and in fair turns; p_held is all that the session still holds.';

-- As in the configuration. A flow that changes keeps its lanes and its actions in flight; if the rate at which priorities age has
-- changed, claims give open actions new ranks.
create or replace function switchyard.announce_flows(p_flows jsonb) returns void
language plpgsql volatile security definer set search_path = switchyard, pg_temp as $$
declare
  f switchyard.flow;
  was switchyard.flow;
begin
  for f in select x.* from jsonb_populate_recordset(null::switchyard.flow, p_flows) as x order by x.flow loop
    perform pg_advisory_xact_lock(1937204083, hashtext(f.flow));
    f.weights := coalesce(f.weights, '{}');
    f.breaker_floor := coalesce(f.breaker_floor, 0.01);
    select * into was from switchyard.flow x where x.flow = f.flow;
    f.reranked := case when found and was.priority_aging is distinct from f.priority_aging
      then '00000000-0000-0000-0000-000000000000' else was.reranked end;
    if to_jsonb(f) is distinct from to_jsonb(was) then
      delete from switchyard.flow x where x.flow = f.flow or (x.action_name = f.action_name and x.workflow is not distinct from f.workflow);
      insert into switchyard.flow values (f.*);
      update switchyard.lane l set weight = coalesce((f.weights ->> l.lane)::double precision, 1),
        state = case when l.state in ('full', 'waiting') then 'ready' else l.state end, vtime = greatest(l.vtime, s.vnow), next_at = null
      from (select x.vnow from switchyard.flow_state x where x.flow = f.flow order by x.seq desc limit 1) as s
      where l.flow = f.flow;
    end if;
  end loop;
end
$$;
comment on function switchyard.announce_flows is 'The lanes and limits of action names and workflows, as the configuration has them.';

create or replace function switchyard.withdraw_flows(p_known text[]) returns void
language plpgsql volatile security definer set search_path = switchyard, pg_temp as $$
declare
  gone text;
begin
  for gone in
    with recursive hop (flow) as (
      (select y.flow || '' from switchyard.yard y where y.flow is not null and y.status in ('PENDING', 'BACKOFF') and y.due is null
       order by y.flow || '' limit 1)
      union all
      select (select y.flow || '' from switchyard.yard y where y.flow is not null and y.status in ('PENDING', 'BACKOFF') and y.due is null
        and (y.flow || '') > h.flow order by y.flow || '' limit 1)
      from hop h where h.flow is not null
    )
    select h.flow from hop h where h.flow <> all (p_known) union select f.flow from switchyard.flow f where f.flow <> all (p_known)
    order by 1
  loop
    perform pg_advisory_xact_lock(1937204083, hashtext(gone));
    delete from switchyard.flow f where f.flow = gone;
    delete from switchyard.flow_state s where s.flow = gone;
    delete from switchyard.flow_session s where s.flow = gone;
    delete from switchyard.lane l where l.flow = gone;
    update switchyard.yard y set flow = null, lane = null, rank = null, entered = pg_current_xact_id() where y.flow = gone;
  end loop;
end
$$;
comment on function switchyard.withdraw_flows is 'Forgets all other flows: their actions are claimed without lanes and limits again.';
