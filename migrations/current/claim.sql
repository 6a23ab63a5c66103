-- The claim: the advisory lock is the lease, the connection that holds it is the fence.
--
-- 1. Actions whose waiting time is over become ready (yard.due is null), so that one index has them all in (priority, age) order.
-- 2. Read a page of candidates in order and try the lock of each until there are enough: locks held = rows returned.
--    If the page is used up because peers hold many of them, continue with a page of twice the length.
--    Session locks are re-entrant, so actions that this connection already holds (p_held) are left out.
-- 3. In a new statement, so with a new snapshot, keep those that are still processable and unlock the rest: a peer may
--    have finished one between our snapshot and our lock. Peers unlock only after their commit.
-- After an error the session holds unknown locks: the caller must then close the connection.
--
-- Index entries of ended actions remain for as long as an old snapshot may need them, so a claim must not start at the
-- front each time. The session remembers a position (ADR 0130): of all actions that the snapshot `seen` shows as ready with
-- a key up to (priority, action_uuid), none is left except `passed`, which were held, and those that this session took.
-- That is a fact about the past, so it stays true. Actions that become ready behind the position later are stamped
-- (yard.entered) by a transaction that `seen` does not show, and yard_arrival has them in the order of their ids:
-- submissions that commit late, retriggers, backoffs that fall due, higher priorities.
--
-- A held action stops the position, because it usually ends soon. Until it does, and for up to 250 ms, claims start at the
-- key that was looked at last, `ahead`: otherwise each claim would try the locks of all actions in flight, half of its cost.
create or replace function switchyard.no_position(p_action_name text) returns switchyard.claim_position
language sql volatile as $$
  select row(p_action_name, clock_timestamp(), '1:1:', -32768, '00000000-0000-0000-0000-000000000000', '-infinity', clock_timestamp(), '-infinity', '{}',
    -32768, '00000000-0000-0000-0000-000000000000')::switchyard.claim_position
$$;
comment on function switchyard.no_position is 'The position of a session that has not claimed yet.';

-- Stored in a setting of the session: a failed claim rolls it back with everything else, and it ends with the locks.
create or replace function switchyard.remembered_position(p_action_name text) returns switchyard.claim_position
language plpgsql volatile as $$
declare
  at switchyard.claim_position := nullif(current_setting('switchyard.position', true), '')::switchyard.claim_position;
begin
  -- Once a minute from the front: whatever was forgotten is found, at the price of one slow claim.
  if at.action_name = p_action_name and at.since between clock_timestamp() - interval '1 minute' and clock_timestamp() then
    return at;
  end if;
  return switchyard.no_position(p_action_name);
end
$$;
comment on function switchyard.remembered_position is 'Where the last claim of this session left off, if it was of that name.';

create or replace function switchyard.forget_position() returns void
language sql volatile as $$ select set_config('switchyard.position', '', false) $$;
comment on function switchyard.forget_position is 'The next claim of this session starts at the front: needed where it unlocked what it has not finished.';

-- The rows that the snapshot `seen` does not show. More than 5,000 are not worth reading: then the position is dropped.
-- The plan is pinned: only yard_arrival has the hash of the name, and only this query uses it. The settings of claim apply.
create or replace function switchyard.arrivals(
  p_at switchyard.claim_position, out arrived bigint, out first_due timestamptz, out behind uuid[]
) language plpgsql stable as $$
declare
  top xid8 := pg_snapshot_xmax(p_at.seen);
  open_then xid8[] := array(select pg_snapshot_xip(p_at.seen));
begin
  select count(*), min(n.due),
    array_agg(n.action_uuid) filter (where n.flow is null and n.due is null and (n.priority, n.action_uuid) <= (p_at.ahead_priority, p_at.ahead_uuid))
  into arrived, first_due, behind
  from (
    (select z.action_uuid, z.action_name, z.flow, z.priority, z.due from switchyard.yard z
     where hashtext(z.action_name) = hashtext(p_at.action_name) and z.status in ('PENDING', 'BACKOFF') and z.entered >= top
     order by z.entered limit 5001)
    union all
    select w.* from unnest(open_then) as o (id), lateral (
      select z.action_uuid, z.action_name, z.flow, z.priority, z.due from switchyard.yard z
      where hashtext(z.action_name) = hashtext(p_at.action_name) and z.status in ('PENDING', 'BACKOFF') and z.entered = o.id
      offset 0) as w
    limit 5001) as n
  where n.action_name = p_at.action_name;
end
$$;
comment on function switchyard.arrivals is 'What became ready or began to wait since that position was taken: how many, the first due, and those up to where it looked ahead.';

-- The ready ones among these ids behind the position, in order, until there are enough. Held ones are kept for later, also
-- those of this session: a cancel and a retrigger may have opened a new run of an action that it still has in flight.
create or replace function switchyard.claim_behind(
  p_ids uuid[], p_held uuid[], p_wanted integer, out got uuid[], out got_locks bigint[], out remaining uuid[], out tried boolean
) language plpgsql volatile as $$
declare
  candidate record;
begin
  got := '{}'; got_locks := '{}'; remaining := '{}'; tried := true;
  for candidate in
    select distinct y.priority, y.action_uuid, y.lock_id from unnest(p_ids) as b (id), lateral (
      select * from switchyard.yard z where z.action_uuid = b.id offset 0) as y
    where y.flow is null and y.status in ('PENDING', 'BACKOFF') and y.due is null
    order by y.priority, y.action_uuid
  loop
    if cardinality(got) >= p_wanted then
      remaining := remaining || candidate.action_uuid;
      tried := false;
    elsif switchyard.try_lock_unless_held(candidate.action_uuid, candidate.lock_id, p_held) then
      got := got || candidate.action_uuid;
      got_locks := got_locks || candidate.lock_id;
    else
      remaining := remaining || candidate.action_uuid;
    end if;
  end loop;
end
$$;
comment on function switchyard.claim_behind is 'Locks up to this many of those actions; the remaining are ready too, and tried shows whether others hold all of them.';

-- A name with limits is claimed only by lane_claim. A conductor whose configuration does not have the limits yet, or no longer, would
-- otherwise also start actions without a flow: those submitted before the limits were announced, or by a transaction open then.
create or replace function switchyard.claim(
  p_action_name text, p_limit integer, p_held uuid[] default '{}',
  out uuids uuid[], out runs integer[], out attempts integer[], out lock_ids bigint[],
  out skipped boolean, out next_due timestamptz
) language plpgsql security definer
set search_path = switchyard, pg_temp set plan_cache_mode = force_generic_plan
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  patience constant interval := '250 ms';
  at switchyard.claim_position := switchyard.remembered_position(p_action_name);
  seen pg_snapshot := pg_current_snapshot(); -- older than that of every statement below: what it shows, all of them see
  moment timestamptz := clock_timestamp();
  held uuid[] := p_held;
  page_size integer := p_limit;
  page uuid[];
  page_locks bigint[];
  page_priorities smallint[];
  last_priority smallint;
  last_uuid uuid;
  tried bigint;
  places bigint[]; -- of the page, that were free
  before bigint; -- the number of free ones at its beginning
  jumps boolean; -- starts where it looked last
  free_priority smallint; -- up to here nothing is held
  free_uuid uuid;
  taken uuid[];
  in_the_way uuid[] := '{}'; -- held, by others or by this session
  fresh record;
  found_behind record;
  behind uuid[] := '{}';
  made_ready uuid[];
  withheld boolean;
  got uuid[] := '{}';
  got_locks bigint[] := '{}';
begin
  uuids := '{}'; runs := '{}'; attempts := '{}'; lock_ids := '{}'; skipped := false;
  if cardinality(held) > 1 then
    -- Sorted, so that each candidate is looked up by a binary search.
    held := (select array_agg(h order by h) from unnest(p_held) as h);
  end if;
  if at.waited > '-infinity' then
    select * into fresh from switchyard.arrivals(at);
    behind := coalesce(fresh.behind, '{}');
    if fresh.arrived > 5000 or cardinality(behind) + cardinality(at.passed) > 1000 then
      at := switchyard.no_position(p_action_name);
      behind := '{}';
    end if;
    at.waited := least(at.waited, fresh.first_due);
  end if;
  select min(w.due), exists (select from switchyard.paused p where p.action_name = p_action_name)
    or exists (select from switchyard.flow f where f.action_name = p_action_name) into next_due, withheld
  from switchyard.yard w
  where w.action_name = p_action_name and w.status in ('PENDING', 'BACKOFF') and w.due is not null and w.due >= at.waited;
  if withheld then
    next_due := null;
    return;
  elsif next_due <= moment then
    with ready as (
      update switchyard.yard y set due = null, entered = pg_current_xact_id()
      where y.action_uuid in (
        select w.action_uuid from switchyard.yard w
        where w.action_name = p_action_name and w.status in ('PENDING', 'BACKOFF') and w.due is not null
          and w.due >= at.waited and w.due <= moment
        order by w.due limit greatest(4 * p_limit, 1000) for update skip locked)
      returning y.flow, y.priority, y.action_uuid
    )
    select array_agg(r.action_uuid) into made_ready from ready r
    where r.flow is null and (r.priority, r.action_uuid) <= (at.ahead_priority, at.ahead_uuid);
    behind := behind || coalesce(made_ready, '{}');
    select min(w.due) into next_due from switchyard.yard w
    where w.action_name = p_action_name and w.status in ('PENDING', 'BACKOFF') and w.due is not null and w.due >= at.waited;
  end if;
  at.waited := least(next_due, moment);
  next_due := nullif(next_due, 'infinity');

  -- Behind the position. One id may be there for two reasons, and its lock is re-entrant: both lists are tried as one.
  if behind <> '{}' or (at.passed <> '{}' and moment > at.probed + patience) then
    select * into found_behind from switchyard.claim_behind(behind || at.passed, held, p_limit);
    got := found_behind.got; got_locks := found_behind.got_locks;
    at.passed := found_behind.remaining;
    at.probed := case when found_behind.tried then moment else '-infinity' end;
  end if;

  -- From the position on, or from where the last claims looked, and then again from the position if that is not enough.
  jumps := (at.ahead_priority, at.ahead_uuid) > (at.priority, at.action_uuid) and moment between at.moved and at.moved + patience;
  loop
    if jumps then
      last_priority := at.ahead_priority; last_uuid := at.ahead_uuid;
    else
      last_priority := at.priority; last_uuid := at.action_uuid;
      if got <> '{}' then
        held := (select array_agg(h order by h) from unnest(held || got) as h); -- not a second time
      end if;
    end if;
    while cardinality(got) < p_limit loop
      select array_agg(c.action_uuid), array_agg(c.lock_id), array_agg(c.priority) into page, page_locks, page_priorities
      from (
        select y.action_uuid, y.lock_id, y.priority from switchyard.yard y
        where y.action_name = p_action_name and y.flow is null and y.status in ('PENDING', 'BACKOFF') and y.due is null
          and (y.priority, y.action_uuid) > (last_priority, last_uuid)
        order by y.priority, y.action_uuid limit page_size) as c;
      exit when page is null;
      -- The LIMIT ends it with the last lock that is wanted.
      select got || array_agg(t.action_uuid), got_locks || array_agg(t.lock_id), coalesce(array_agg(t.place), '{}') into got, got_locks, places
      from (
        select c.* from unnest(page, page_locks) with ordinality as c (action_uuid, lock_id, place)
        where switchyard.try_lock_unless_held(c.action_uuid, c.lock_id, held) limit p_limit - cardinality(got)) as t;
      tried := case when cardinality(got) = p_limit then places[cardinality(places)] else cardinality(page) end;
      if cardinality(places) < tried and free_uuid is null then
        before := coalesce((select min(p.number) from unnest(places) with ordinality as p (place, number) where p.place <> p.number),
          cardinality(places) + 1) - 1;
        free_priority := case when before = 0 then last_priority else page_priorities[before] end;
        free_uuid := case when before = 0 then last_uuid else page[before] end;
      end if;
      last_priority := page_priorities[tried]; last_uuid := page[tried];
      exit when cardinality(page) < page_size;
      page_size := 2 * page_size;
    end loop;
    exit when not jumps or cardinality(got) = p_limit;
    jumps := false; free_uuid := null;
  end loop;

  -- What is held ends soon, as a rule: the position waits for it, and steps over it only after a while.
  if free_uuid is not null and (cardinality(got) < p_limit or moment not between at.moved and at.moved + patience) then
    taken := array(select g from unnest(got) as g order by g);
    in_the_way := array(
      select y.action_uuid from switchyard.yard y
      where y.action_name = p_action_name and y.flow is null and y.status in ('PENDING', 'BACKOFF') and y.due is null
        and (y.priority, y.action_uuid) > (free_priority, free_uuid) and (y.priority, y.action_uuid) <= (last_priority, last_uuid)
        and taken[width_bucket(y.action_uuid, taken)] is distinct from y.action_uuid);
  end if;
  if (last_priority, last_uuid) > (at.ahead_priority, at.ahead_uuid) then
    at.ahead_priority := last_priority; at.ahead_uuid := last_uuid;
  end if;
  if jumps then
    null; -- nothing is known of what was held
  elsif free_uuid is null then
    at.priority := last_priority; at.action_uuid := last_uuid; at.moved := moment;
  elsif (free_priority, free_uuid) > (at.priority, at.action_uuid) then
    at.priority := free_priority; at.action_uuid := free_uuid; at.moved := moment;
  elsif moment not between at.moved and at.moved + patience then
    at.priority := last_priority; at.action_uuid := last_uuid; at.moved := moment;
    at.passed := at.passed || in_the_way;
  end if;
  if cardinality(got) < p_limit and at.passed <> '{}' and at.probed < moment then
    held := (select array_agg(h order by h) from unnest(held || got) as h);
    select * into found_behind from switchyard.claim_behind(at.passed, held, p_limit - cardinality(got));
    got := got || found_behind.got; got_locks := got_locks || found_behind.got_locks;
    at.passed := found_behind.remaining;
    at.probed := case when found_behind.tried then moment else '-infinity' end;
  end if;
  skipped := cardinality(got) < p_limit and (at.passed <> '{}'
    or exists (select from unnest(in_the_way) as w where held[width_bucket(w, held)] is distinct from w));
  at.seen := seen;
  perform set_config('switchyard.position', at::text, false);
  if cardinality(got) > 0 then
    select coalesce(array_agg(y.action_uuid), '{}'), coalesce(array_agg(y.run), '{}'), coalesce(array_agg(y.attempt), '{}'), coalesce(array_agg(y.lock_id), '{}')
    into uuids, runs, attempts, lock_ids
    from unnest(got) as g (action_uuid), lateral (
      -- OFFSET pins the order of the join: while no ANALYZE has seen the yard, Postgres would walk all of it instead.
      select * from switchyard.yard z where z.action_uuid = g.action_uuid offset 0) as y
    where y.status in ('PENDING', 'BACKOFF') and y.due is null;
    if cardinality(uuids) < cardinality(got) then
      perform pg_advisory_unlock(g.lock_id) from unnest(got, got_locks) as g (action_uuid, lock_id) where g.action_uuid <> all (uuids);
    end if;
  end if;
end
$$;
comment on function switchyard.claim is 'Locks and returns up to p_limit processable actions of that name; tells whether others hold some, and when the next is due.';

create or replace function switchyard.resumes(p_uuid uuid, p_run integer) returns boolean
language sql stable as $$
  select exists (
    select from switchyard.event e
    where e.action_uuid = p_uuid and e.run = p_run and e.status = 'PENDING' and not e.ignored and e.detail ->> 'resume_from' = 'failed')
$$;
comment on function switchyard.resumes is 'Whether that run was asked to continue where the one before it failed.';

-- The action that a notification named. It is locked first and then read in a new statement, so with a snapshot that has
-- everything that a peer did while it held the lock. The caller must not hold the lock already. Without an id
-- nothing is locked. The plan is generic, like the next one: planning for the one partition would double the time.
create or replace function switchyard.claim_one(
  p_action_name text, p_uuid uuid, out skipped boolean, out lock_id bigint, out run integer, out attempt integer,
  out workflow text, out callback text, out parent_uuid uuid, out parameters jsonb, out correlation_id text,
  out created_at timestamptz, out resumes boolean
) language plpgsql volatile security definer
set search_path = switchyard, pg_temp set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  skipped := not pg_try_advisory_lock(switchyard.uuid_lock(p_uuid));
  if skipped then
    return;
  end if;
  select y.lock_id, y.run, y.attempt, a.workflow, a.callback, a.parent_uuid, a.parameters, a.correlation_id, a.created_at
  into lock_id, run, attempt, workflow, callback, parent_uuid, parameters, correlation_id, created_at
  from switchyard.yard y join switchyard.action a using (action_uuid)
  where y.action_uuid = p_uuid and a.action_uuid = p_uuid and y.action_name = p_action_name and y.flow is null
    and y.status in ('PENDING', 'BACKOFF') and y.due is null
    and not exists (select from switchyard.paused p where p.action_name = p_action_name)
    and not exists (select from switchyard.flow f where f.action_name = p_action_name); -- as in claim
  if not found then
    perform pg_advisory_unlock(switchyard.uuid_lock(p_uuid));
  elsif run > 1 then
    resumes := switchyard.resumes(p_uuid, run);
  end if;
end
$$;
comment on function switchyard.claim_one is 'Locks and returns that action, where it is processable and of that name; skipped where others hold it.';

-- Called in the same statement as the claim, so that a handler starts after one round trip. Volatile, because the claim may
-- see commits after the snapshot of the calling statement. The bounds let Postgres open only the partitions between them:
-- it prunes by parameters, not by an array. A custom plan would look cheaper to Postgres, because it names the
-- partition, and would be made again for every claim: 100 us of 165.
create or replace function switchyard.describe(
  p_uuids uuid[], p_runs integer[], out uuids uuid[], out workflows text[], out callbacks text[], out parents text[],
  out parameters jsonb[], out correlations text[], out created timestamptz[], out resumed uuid[]
) language plpgsql volatile security definer
set search_path = switchyard, pg_temp set plan_cache_mode = force_generic_plan
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  oldest uuid := p_uuids[1];
  youngest uuid := oldest;
begin
  if oldest is null then
    return;
  elsif cardinality(p_uuids) > 1 then
    select (array_agg(u order by u))[1], (array_agg(u order by u desc))[1] into oldest, youngest from unnest(p_uuids) as u;
  end if;
  select array_agg(a.action_uuid), array_agg(a.workflow), array_agg(a.callback), array_agg(a.parent_uuid::text),
    array_agg(a.parameters), array_agg(a.correlation_id), array_agg(a.created_at)
  into uuids, workflows, callbacks, parents, parameters, correlations, created
  from switchyard.action a
  where a.action_uuid = any (p_uuids) and a.action_uuid between oldest and youngest;
  if 1 < any (p_runs) then
    select array_agg(r.action_uuid) into resumed from unnest(p_uuids, p_runs) as r (action_uuid, run)
    where r.run > 1 and switchyard.resumes(r.action_uuid, r.run);
  end if;
end
$$;
comment on function switchyard.describe is 'What a handler needs to know of those actions, in no order; of these runs, which resume.';

-- p_held is sorted, for a binary search; the lock of an action in it is not tried.
create or replace function switchyard.try_lock_unless_held(p_uuid uuid, p_lock bigint, p_held uuid[]) returns boolean
language sql volatile as $$
  select case when p_held[width_bucket(p_uuid, p_held)] = p_uuid then false else pg_try_advisory_lock(p_lock) end
$$;
comment on function switchyard.try_lock_unless_held is 'Takes the advisory lock, but never a second time.';

-- at_most_once: a thread RUNNING by a conductor whose lock is free was being dispatched when its conductor died.
create or replace function switchyard.claim_orphans(p_action_name text, p_limit integer, p_held uuid[] default '{}')
returns table (action_uuid uuid, run integer, attempt integer, lock_id bigint)
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  held uuid[] := (select coalesce(array_agg(h order by h), '{}') from unnest(p_held) as h);
  got uuid[];
  got_locks bigint[];
  kept uuid[];
begin
  with candidate as materialized (
    select y.action_uuid, y.lock_id from switchyard.yard y
    where y.action_name = p_action_name and y.status = 'RUNNING' order by y.action_uuid limit 4 * p_limit + cardinality(p_held)
  ), taken as (
    select c.action_uuid, c.lock_id from candidate c
    where switchyard.try_lock_unless_held(c.action_uuid, c.lock_id, held) limit p_limit
  )
  select array_agg(t.action_uuid), array_agg(t.lock_id) into got, got_locks from taken t;
  if got is null then
    return;
  end if;
  select coalesce(array_agg(y.action_uuid), '{}') into kept
  from unnest(got) as g (action_uuid) join switchyard.yard y using (action_uuid) where y.status = 'RUNNING';
  perform pg_advisory_unlock(g.lock_id) from unnest(got, got_locks) as g (action_uuid, lock_id) where g.action_uuid <> all (kept);
  return query select y.action_uuid, y.run, y.attempt, y.lock_id from unnest(kept) as k (action_uuid) join switchyard.yard y using (action_uuid);
end
$$;
comment on function switchyard.claim_orphans is 'Locks and returns actions of that name that are RUNNING with nobody there to run them.';

-- Called after the outcome was committed. Actions without an outcome are returned with `release`: this session's next claim finds them.
create or replace function switchyard.unlock(p_lock_ids bigint[]) returns integer
language sql volatile as $$
  select count(*) filter (where pg_advisory_unlock(l))::integer from unnest(p_lock_ids) as l
$$;
comment on function switchyard.unlock is 'Gives back the locks of actions whose outcome is recorded; the number that were held.';

create or replace function switchyard.release(p_lock_ids bigint[]) returns integer
language plpgsql volatile security definer set search_path = switchyard, pg_temp as $$
begin
  perform switchyard.forget_position();
  return switchyard.unlock(p_lock_ids);
end
$$;
comment on function switchyard.release is 'Gives back the locks of actions that have no outcome; the number that were held.';

-- Retention may drop an action in flight after it was canceled; and dropping a partition during a retrigger may
-- leave a row in the yard without a thread, which every claim would find again.
create or replace function switchyard.forget_gone(p_uuids uuid[]) returns uuid[]
language plpgsql volatile security definer set search_path = switchyard, pg_temp as $$
declare
  gone uuid[] := (
    select coalesce(array_agg(g.action_uuid), '{}') from unnest(p_uuids) as g (action_uuid)
    where not exists (select from switchyard.thread t where t.action_uuid = g.action_uuid));
begin
  with deleted as (
    delete from switchyard.yard y where y.action_uuid = any (gone) returning y.action_uuid, y.action_name
  )
  insert into switchyard.journal (kind, subject, reason, detail, needs_review)
  select 'action_gone', d.action_uuid::text, format('action %s of %s was in the queue but its rows were dropped', d.action_uuid, d.action_name),
    jsonb_build_object('action_name', d.action_name), true
  from deleted d;
  return gone;
end
$$;
comment on function switchyard.forget_gone is 'Those of the actions that no longer exist; what is left of them in the queue is deleted.';
