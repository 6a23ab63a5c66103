-- The claim: the advisory lock is the lease, the connection that holds it is the fence.
--
-- 1. What waited and is due now becomes ready (yard.due is null): one index then has all in (priority, age) order.
-- 2. Take a window of candidates, in order and materialised; then try each one's lock under a LIMIT with no sort
--    above it, so that locks held = rows returned. Where peers hold so many that the window is used up, page on.
--    Session locks are re-entrant, so what this connection holds already (p_held) must be passed over.
-- 3. In a new statement, so with a new snapshot, keep those that are still processable and unlock the rest: a peer may
--    have finished one between our snapshot and our lock. Peers unlock only after their commit.
-- Any error leaves locks that nobody knows of: the caller must then drop the connection.
create function switchyard.try_lock_unless_held(p_uuid uuid, p_lock bigint, p_held uuid[]) returns boolean
language sql volatile as $$
  -- p_held is sorted: a binary search, and the lock is not even tried where it is found.
  select case when p_held[width_bucket(p_uuid, p_held)] = p_uuid then false else pg_try_advisory_lock(p_lock) end
$$;
comment on function switchyard.try_lock_unless_held is 'Takes the advisory lock, but never a second time.';

create function switchyard.claim(
  p_action_name text, p_limit integer, p_held uuid[] default '{}',
  out uuids uuid[], out runs integer[], out attempts integer[], out lock_ids bigint[],
  out skipped boolean, out next_due timestamptz
) language plpgsql security definer
set search_path = switchyard, pg_temp set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  held uuid[] := (select coalesce(array_agg(h order by h), '{}') from unnest(p_held) as h);
  window_size integer := 4 * p_limit + cardinality(p_held);
  from_priority smallint := -32768;
  from_uuid uuid := '00000000-0000-0000-0000-000000000000';
  seen integer;
  mine integer;
  left_to_others integer := 0;
  page uuid[];
  page_locks bigint[];
  got uuid[] := '{}';
  got_locks bigint[] := '{}';
begin
  uuids := '{}'; runs := '{}'; attempts := '{}'; lock_ids := '{}'; skipped := false;
  if exists (select from switchyard.paused p where p.action_name = p_action_name) then
    return;
  end if;
  update switchyard.yard y set due = null
  where y.action_uuid in (
    select w.action_uuid from switchyard.yard w
    where w.action_name = p_action_name and w.status in ('PENDING', 'BACKOFF') and w.due <= now()
    order by w.due limit greatest(window_size, 1000) for update skip locked);
  while cardinality(got) < p_limit loop
    with candidate as materialized (
      select y.action_uuid, y.priority, y.lock_id from switchyard.yard y
      where y.action_name = p_action_name and y.status in ('PENDING', 'BACKOFF') and y.due is null
        and (y.priority, y.action_uuid) > (from_priority, from_uuid)
      order by y.priority, y.action_uuid limit window_size
    ), taken as (
      select c.action_uuid, c.lock_id from candidate c
      where switchyard.try_lock_unless_held(c.action_uuid, c.lock_id, held)
      limit p_limit - cardinality(got)
    ), last as (
      select c.priority, c.action_uuid from candidate c offset window_size - 1
    )
    select c.seen, c.mine, t.uuids, t.locks, last.priority, last.action_uuid
    into seen, mine, page, page_locks, from_priority, from_uuid
    from (select array_agg(action_uuid) as uuids, array_agg(lock_id) as locks from taken) as t
    cross join (select count(*) as seen, count(*) filter (where held[width_bucket(action_uuid, held)] = action_uuid) as mine from candidate) as c
    left join last on true;
    got := got || page;
    got_locks := got_locks || page_locks;
    left_to_others := left_to_others + seen - mine - coalesce(cardinality(page), 0);
    exit when seen < window_size;
  end loop;
  skipped := cardinality(got) < p_limit and left_to_others > 0;
  if cardinality(got) > 0 then
    select coalesce(array_agg(y.action_uuid), '{}'), coalesce(array_agg(y.run), '{}'), coalesce(array_agg(y.attempt), '{}'), coalesce(array_agg(y.lock_id), '{}')
    into uuids, runs, attempts, lock_ids
    from unnest(got) as g (action_uuid) join switchyard.yard y using (action_uuid)
    where y.status in ('PENDING', 'BACKOFF') and y.due is null;
    if cardinality(uuids) < cardinality(got) then
      perform pg_advisory_unlock(g.lock_id) from unnest(got, got_locks) as g (action_uuid, lock_id) where g.action_uuid <> all (uuids);
    end if;
  end if;
  select min(y.due) into next_due from switchyard.yard y
  where y.action_name = p_action_name and y.status in ('PENDING', 'BACKOFF') and y.due is not null;
end
$$;
comment on function switchyard.claim is 'Locks and returns up to p_limit processable actions of that name; tells whether others hold some, and when the next is due.';

-- at_most_once: a thread RUNNING by a conductor whose lock is free was being dispatched when its conductor died.
create function switchyard.claim_orphans(p_action_name text, p_limit integer, p_held uuid[] default '{}')
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
  select coalesce(array_agg(y.action_uuid), '{}') into kept
  from unnest(got) as g (action_uuid) join switchyard.yard y using (action_uuid) where y.status = 'RUNNING';
  perform pg_advisory_unlock(g.lock_id) from unnest(got, got_locks) as g (action_uuid, lock_id) where g.action_uuid <> all (kept);
  return query select y.action_uuid, y.run, y.attempt, y.lock_id from unnest(kept) as k (action_uuid) join switchyard.yard y using (action_uuid);
end
$$;
comment on function switchyard.claim_orphans is 'Locks and returns actions of that name that are RUNNING with nobody there to run them.';

create function switchyard.unlock(p_lock_ids bigint[]) returns integer
language sql volatile as $$
  select count(*) filter (where pg_advisory_unlock(l))::integer from unnest(p_lock_ids) as l
$$;
comment on function switchyard.unlock is 'Gives locks back; the number that were really held.';
