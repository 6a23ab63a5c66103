-- The claim: the advisory lock is the lease, the connection that holds it is the fence.
--
-- 1. What waited and is due now becomes ready (yard.due is null): one index then has all in (priority, age) order.
-- 2. Take a page of candidates in order and try each one's lock until there are enough: locks held = rows returned.
--    Where peers hold so many that the page is used up, go on with one twice as long.
--    Session locks are re-entrant, so what this connection holds already (p_held) is no candidate.
-- 3. In a new statement, so with a new snapshot, keep those that are still processable and unlock the rest: a peer may
--    have finished one between our snapshot and our lock. Peers unlock only after their commit.
-- Any error leaves locks that nobody knows of: the caller must then drop the connection.
-- An action that comes alone is waited for, so its way is short: two statements, and what they need is in the first.
create or replace function switchyard.claim(
  p_action_name text, p_limit integer, p_held uuid[] default '{}',
  out uuids uuid[], out runs integer[], out attempts integer[], out lock_ids bigint[],
  out skipped boolean, out next_due timestamptz
) language plpgsql security definer
set search_path = switchyard, pg_temp set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  held uuid[] := p_held;
  page_size integer := p_limit;
  from_priority smallint := -32768;
  from_uuid uuid := '00000000-0000-0000-0000-000000000000';
  last_priority smallint;
  paused boolean;
  first boolean := true;
  page uuid[];
  page_locks bigint[];
  got uuid[] := '{}';
  got_locks bigint[] := '{}';
begin
  uuids := '{}'; runs := '{}'; attempts := '{}'; lock_ids := '{}'; skipped := false;
  if cardinality(held) > 1 then
    -- Sorted, so that each candidate is looked up by a binary search.
    held := (select array_agg(h order by h) from unnest(p_held) as h);
  end if;
  loop
    select array_agg(c.action_uuid), array_agg(c.lock_id), max(c.priority),
      (select min(w.due) from switchyard.yard w
       where w.action_name = p_action_name and w.status in ('PENDING', 'BACKOFF') and w.due is not null),
      exists (select from switchyard.paused p where p.action_name = p_action_name)
    into page, page_locks, last_priority, next_due, paused
    from (
      select y.action_uuid, y.lock_id, y.priority from switchyard.yard y
      where y.action_name = p_action_name and y.status in ('PENDING', 'BACKOFF') and y.due is null
        and (y.priority, y.action_uuid) > (from_priority, from_uuid)
        and held[width_bucket(y.action_uuid, held)] is distinct from y.action_uuid
      order by y.priority, y.action_uuid limit page_size) as c;
    if paused then
      next_due := null;
      exit;
    elsif first and next_due <= now() then
      update switchyard.yard y set due = null
      where y.action_uuid in (
        select w.action_uuid from switchyard.yard w
        where w.action_name = p_action_name and w.status in ('PENDING', 'BACKOFF') and w.due <= now()
        order by w.due limit greatest(4 * p_limit, 1000) for update skip locked);
      first := false;
      continue;
    end if;
    first := false;
    for place in 1 .. coalesce(cardinality(page), 0) loop
      if pg_try_advisory_lock(page_locks[place]) then
        got := got || page[place];
        got_locks := got_locks || page_locks[place];
        exit when cardinality(got) = p_limit;
      else
        skipped := true;
      end if;
    end loop;
    exit when cardinality(got) = p_limit or page is null or cardinality(page) < page_size;
    from_priority := last_priority;
    from_uuid := page[page_size];
    page_size := 2 * page_size;
  end loop;
  skipped := skipped and cardinality(got) < p_limit;
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

-- The action that a bell named. What is known beforehand is locked first and looked at once, in a new statement, so with
-- a snapshot that has whatever a peer did to it while it held the lock. The caller must not hold it already. Without an id
-- it locks nothing. Generic, like the next one: planned anew for the one partition, it would take twice as long as it does.
create or replace function switchyard.claim_one(
  p_action_name text, p_uuid uuid, out skipped boolean, out lock_id bigint, out run integer, out attempt integer,
  out workflow text, out callback text, out parent_uuid uuid, out parameters jsonb, out correlation_id text,
  out created_at timestamptz
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
  where y.action_uuid = p_uuid and a.action_uuid = p_uuid and y.action_name = p_action_name
    and y.status in ('PENDING', 'BACKOFF') and y.due is null
    and not exists (select from switchyard.paused p where p.action_name = p_action_name);
  if not found then
    perform pg_advisory_unlock(switchyard.uuid_lock(p_uuid));
  end if;
end
$$;
comment on function switchyard.claim_one is 'Locks and returns that action, where it is processable and of that name; skipped where others hold it.';

-- Asked together with the claim, so that a handler is entered after one round trip. Volatile: what the claim saw was
-- committed after the snapshot of the statement that asks for both. The bounds let Postgres open the partitions
-- between them alone; it sees through parameters, not through an array. A plan for these very values would look cheaper
-- to Postgres, for it names their partition, and would be made anew for every claim: 100 us of 165.
create or replace function switchyard.describe(
  p_uuids uuid[], out uuids uuid[], out workflows text[], out callbacks text[], out parents text[],
  out parameters jsonb[], out correlations text[], out created timestamptz[]
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
end
$$;
comment on function switchyard.describe is 'What a handler needs to know of those actions, in no order.';

-- p_held is sorted: a binary search, and the lock is not even tried where it is found.
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

create or replace function switchyard.unlock(p_lock_ids bigint[]) returns integer
language sql volatile as $$
  select count(*) filter (where pg_advisory_unlock(l))::integer from unnest(p_lock_ids) as l
$$;
comment on function switchyard.unlock is 'Gives locks back; the number that were really held.';

-- Retention may drop an action that is in flight, once it was cancelled; and a partition dropped beside a retrigger
-- leaves a place in the yard without a thread, which every claim would find again.
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
