-- Reuse: an action whose workflow has `reuse` in the configuration is given the result of an earlier action with the same key.
--
-- Seeks    Submission decides nothing. The action is held as in waiting.sql, and its row in `reuse` has its key. An action that waits for
--          others, or for its time, seeks when that wait is over.
-- Leads    One action of a key computes: it was released, and its row in the yard is marked, so that its end notifies.
-- Follows  The others stay held. If the leader is successful, they end SUCCESSFUL with detail.reused; if it ends otherwise, the
--          oldest of them leads.
-- Result   The leader's row stays until it is too old for a request, forgotten, or dropped by retention.
-- Settled  settle_reuse decides, one key at a time. Conductors run it; any number may do so, because it holds no state.
--
-- Why it is correct:
-- - One decision per key at a time: under its advisory lock, in statements that see earlier decisions. In any case a constraint of the
--   table allows only one leader per key.
-- - No waiting action is lost: a key with waiting rows has one that seeks, or a leader whose end makes the key due. A transaction that
--   removes a leader's row makes its followers seek; an action starts to follow only under that row's lock.
-- - A follower ends once: under its thread's lock, in the transaction that deletes its row.
-- - No deadlock: settle_reuse waits for no row lock. Others lock the thread first, then rows of `reuse` in the order of their ids.

create or replace function switchyard.reuse_key(a switchyard.action, rule jsonb) returns jsonb
language sql stable as $$
  select jsonb_build_array(a.workflow, rule -> 'version', case when not (rule -> 'shared')::boolean then coalesce(a.lane, '') end, k.found, a.parameters -> '$inputs')
  from (
    select jsonb_agg(jsonb_path_query_array(a.parameters, p.path::jsonpath, '{}', true) order by p.place) as found
    from jsonb_array_elements_text(rule -> 'key') with ordinality as p (path, place)) as k
  -- Parameters that are in the object store cannot be compared; and a path that finds nothing anywhere would make all the same.
  where not a.parameters ? 'switchyard:parameters' and (a.parameters ? '$inputs' or jsonb_path_exists(k.found, '$[*][*]'))
$$;
comment on function switchyard.reuse_key is 'What two actions must share to be the same computation; null where that cannot be said.';

create or replace function switchyard.seek(p_uuids uuid[]) returns uuid[]
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  seeking uuid[];
begin
  with made as (
    insert into switchyard.reuse (action_uuid, workflow, version, key, fresh, not_before)
    select a.action_uuid, a.workflow, r.reuse ->> 'version', k.key, make_interval(secs => (r.reuse ->> 'for')::double precision),
      coalesce(t.next_attempt_after, '-infinity')
    from switchyard.action a join switchyard.thread t using (action_uuid) join switchyard.route r using (workflow)
    cross join lateral switchyard.reuse_key(a, r.reuse) as k (key)
    where a.action_uuid = any (p_uuids) and t.action_uuid = any (p_uuids) and r.reuse is not null and a.no_cache is not true and k.key is not null
    returning action_uuid
  )
  select coalesce(array_agg(m.action_uuid), '{}') into seeking from made m;
  if seeking <> '{}' then
    perform switchyard.wake_settlers();
  end if;
  return seeking;
end
$$;
comment on function switchyard.seek is 'Those of these actions that look for a result from now on; the caller holds them.';

-- Actions are inserted when the rule of their workflow is known, and are held; without a key they start like any other.
create or replace function switchyard.hold_seekers(p_uuids uuid[]) returns void
language plpgsql as $$
declare
  seeking uuid[] := switchyard.seek(p_uuids);
begin
  if cardinality(seeking) < cardinality(p_uuids) then
    update switchyard.yard y set due = t.next_attempt_after
    from switchyard.thread t
    where y.action_uuid = any (p_uuids) and y.action_uuid <> all (seeking) and t.action_uuid = y.action_uuid;
  end if;
end
$$;
comment on function switchyard.hold_seekers is 'Of new actions that are held because of their workflow: they look for a result, or are held no longer.';

-- Without this, followers of a former leader would wait forever.
create or replace function switchyard.leave_reuse(p_uuids uuid[]) returns integer
language plpgsql as $$
declare
  left_keys jsonb[];
  gone integer;
begin
  perform from switchyard.reuse r where r.action_uuid = any (p_uuids) order by r.action_uuid for update;
  with deleted as (delete from switchyard.reuse r where r.action_uuid = any (p_uuids) returning r.key, r.role)
  select array_agg(d.key) filter (where d.role = 'leads'), count(*) into left_keys, gone from deleted d;
  if left_keys is not null then
    with follower as (
      select r.action_uuid from unnest(left_keys) as k (key) join switchyard.reuse r on jsonb_hash(r.key) = jsonb_hash(k.key) and r.key = k.key
      where r.role = 'follows' order by r.action_uuid for update of r)
    update switchyard.reuse r set role = 'seeks' from follower f where r.action_uuid = f.action_uuid;
    perform switchyard.wake_settlers();
  end if;
  return gone;
end
$$;
comment on function switchyard.leave_reuse is 'These actions no longer wait, lead or have a result to reuse, and whoever followed them looks again; how many they were.';

-- Rows that another transaction has locked are skipped. A row whose action is no longer held has nothing to wait for: the action was canceled.
create or replace function switchyard.waiting_for_key(k jsonb, p_role text, p_limit integer) returns uuid[]
language plpgsql as $$
declare
  locked uuid[] := array(
    select r.action_uuid from switchyard.reuse r
    where jsonb_hash(r.key) = jsonb_hash(k) and r.key = k and r.role = p_role and r.not_before <= now()
    order by r.action_uuid limit p_limit for update skip locked);
  held uuid[] := array(select y.action_uuid from switchyard.yard y where y.action_uuid = any (locked) and y.due = 'infinity' order by y.action_uuid);
begin
  if cardinality(held) < cardinality(locked) then
    delete from switchyard.reuse r where r.action_uuid = any (locked) and r.action_uuid <> all (held);
  end if;
  return held;
end
$$;
comment on function switchyard.waiting_for_key is 'The oldest actions that wait for a key in that role, their rows locked.';

create or replace function switchyard.reuse_result(k jsonb, p_action uuid, p_run integer, p_ended timestamptz) returns integer
language plpgsql as $$
declare
  waiting uuid[] := switchyard.waiting_for_key(k, 'follows', 500);
  ended uuid[];
begin
  if waiting = '{}' then
    waiting := switchyard.waiting_for_key(k, 'seeks', 500);
  end if;
  select coalesce(array_agg(l.action_uuid), '{}') into ended from (
    select t.action_uuid from switchyard.thread t join switchyard.reuse r using (action_uuid) join switchyard.yard y using (action_uuid)
    where t.action_uuid = any (waiting) and t.status = 'PENDING' and p_ended + r.fresh > now()
    order by t.action_uuid for update of t, y skip locked) as l;
  insert into switchyard.event (action_uuid, status, run, attempt, source, detail)
  select t.action_uuid, 'SUCCESSFUL', t.run, t.attempt, 'reuse', jsonb_build_object(
    'reused', jsonb_build_object('action', p_action, 'run', p_run), 'note', format('has the result of run %s of %s', p_run, p_action))
  from switchyard.thread t where t.action_uuid = any (ended) order by t.action_uuid;
  delete from switchyard.reuse r where r.action_uuid = any (ended);
  return cardinality(ended);
end
$$;
comment on function switchyard.reuse_result is 'Ends actions that wait for a key with that result, at most 500; how many.';

create or replace function switchyard.lead(k jsonb, p_before uuid) returns boolean
language plpgsql as $$
declare
  next uuid := coalesce((switchyard.waiting_for_key(k, 'follows', 100))[1], (switchyard.waiting_for_key(k, 'seeks', 100))[1]);
  held record;
begin
  if next is null then
    return false;
  end if;
  select t.action_name, t.next_attempt_after into held from switchyard.thread t
  where t.action_uuid = next and t.status = 'PENDING' for update skip locked;
  if found then
    perform from switchyard.yard y where y.action_uuid = next and y.due = 'infinity' for update skip locked;
  end if;
  if not found then
    return false;
  end if;
  delete from switchyard.reuse r where r.action_uuid = p_before;
  update switchyard.reuse r set role = 'leads', not_before = '-infinity' where r.action_uuid = next;
  update switchyard.yard y set due = case when held.next_attempt_after > now() then held.next_attempt_after end, watched = true,
    entered = pg_current_xact_id()
  where y.action_uuid = next;
  perform switchyard.ring(array[held.action_name], next);
  return true;
end
$$;
comment on function switchyard.lead is 'Lets the oldest of those that wait for a key compute, in the place of the leader before; false where others hold it.';

create or replace function switchyard.settle_key(k jsonb, out verdict text, out n integer)
language plpgsql as $$
declare
  leader record;
  waits boolean;
begin
  verdict := 'busy';
  n := 0;
  if not pg_try_advisory_xact_lock(1937204085, jsonb_hash(k)) then
    return;
  end if;
  select r.action_uuid, r.role, t.status, t.run, t.ended_at into leader
  from switchyard.reuse r left join switchyard.thread t using (action_uuid) where r.key = k and r.role in ('leads', 'result');
  if leader.action_uuid is not null then
    -- Whoever takes this row away waits, and then sees all that follow it.
    perform from switchyard.reuse r where r.action_uuid = leader.action_uuid for update skip locked;
    if not found then
      return;
    end if;
  end if;
  if leader.status < 'SUCCESSFUL' then
    update switchyard.reuse r set role = 'follows' where r.action_uuid = any (switchyard.waiting_for_key(k, 'seeks', 500));
    get diagnostics n = row_count;
    verdict := case when n > 0 then 'followed' else 'busy' end;
    return;
  elsif leader.status = 'SUCCESSFUL' then
    n := switchyard.reuse_result(k, leader.action_uuid, leader.run, leader.ended_at);
    if n > 0 then
      verdict := 'reused';
      return;
    end if;
  end if;
  select bool_or(leader.status is distinct from 'SUCCESSFUL' or leader.ended_at + r.fresh <= now()) into waits from switchyard.reuse r
  where jsonb_hash(r.key) = jsonb_hash(k) and r.key = k and r.role in ('seeks', 'follows') and r.not_before <= now();
  if waits and switchyard.lead(k, leader.action_uuid) then
    verdict := 'led';
    n := 1;
    return;
  end if;
  perform from switchyard.reuse r
  where jsonb_hash(r.key) = jsonb_hash(k) and r.key = k and r.role in ('seeks', 'follows') and r.not_before <= now();
  if not found then
    -- Nobody waits, or all that did were canceled.
    if leader.status = 'SUCCESSFUL' then
      update switchyard.reuse r set role = 'result' where r.action_uuid = leader.action_uuid;
    else
      delete from switchyard.reuse r where r.action_uuid = leader.action_uuid;
    end if;
    verdict := 'settled';
  end if;
end
$$;
comment on function switchyard.settle_key is 'Decides about those that wait for one key: followed, reused, led, settled or busy; and how many of them.';

create or replace function switchyard.settle_reuse(
  p_limit integer default 50, out settled integer, out busy integer, out reused integer, out led integer, out followed integer
) language plpgsql security definer set search_path = switchyard, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  k jsonb;
  decided record;
begin
  settled := 0; busy := 0; reused := 0; led := 0; followed := 0;
  for k in
    select distinct d.key from (
      (select r.key from switchyard.reuse r where r.role = 'seeks' and r.not_before <= now() order by r.not_before limit 10 * p_limit)
      union all
      (select r.key from switchyard.reuse r
       where r.role = 'leads' and r.not_before <= now() and not exists (select from switchyard.yard y where y.action_uuid = r.action_uuid) limit p_limit)) as d
    limit p_limit
  loop
    -- Whatever one key raises is rolled back alone. It looks again later, behind the others.
    begin
      select * into decided from switchyard.settle_key(k);
      busy := busy + (decided.verdict = 'busy')::integer;
      settled := settled + (decided.verdict <> 'busy')::integer;
      reused := reused + case when decided.verdict = 'reused' then decided.n else 0 end;
      led := led + case when decided.verdict = 'led' then 1 else 0 end;
      followed := followed + case when decided.verdict = 'followed' then decided.n else 0 end;
    exception when query_canceled or others then
      perform switchyard.report_unsettled(r.action_uuid, sqlerrm) from switchyard.reuse r
      where jsonb_hash(r.key) = jsonb_hash(k) and r.key = k and r.role in ('seeks', 'follows') order by r.action_uuid limit 1;
      update switchyard.reuse r set not_before = switchyard.looked_at_again(sqlstate)
      where jsonb_hash(r.key) = jsonb_hash(k) and r.key = k and r.role in ('seeks', 'leads') and r.not_before <= now();
      exit when sqlstate = '57014';
    end;
  end loop;
end
$$;
comment on function switchyard.settle_reuse is 'Looks at the keys that somebody waits for; how many moved on, how many could not be decided because others hold their rows, and what became of the actions.';

create or replace view switchyard.results as
select r.action_uuid, r.workflow, r.version, nullif(r.key ->> 2, '') as lane, r.key -> 3 as found, t.run, t.status, t.ended_at, t.ended_at + r.fresh as fresh_until,
  (select count(*) from switchyard.reuse w
   where jsonb_hash(w.key) = jsonb_hash(r.key) and w.key = r.key and w.role in ('seeks', 'follows')) as waiting
from switchyard.reuse r join switchyard.thread t using (action_uuid) where r.role in ('leads', 'result');
comment on view switchyard.results is 'The results that may be reused, and those that are being computed, with the number of actions that wait for each.';

-- Computations in progress are forgotten too, unless only results before a given time are: their followers compute the result again.
create or replace function switchyard.forget_results(
  actor text, reason text, workflow text default null, version text default null, action_uuid uuid default null,
  before timestamptz default null, dry_run boolean default false
) returns integer
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  t switchyard.thread;
  source uuid;
  chosen uuid[];
begin
  perform switchyard.named('actor', actor), switchyard.named('reason', reason);
  if num_nonnulls(forget_results.workflow, forget_results.version, forget_results.action_uuid, before) = 0 then
    raise exception 'forget_results: give a workflow, a version, an action or a time' using errcode = 'invalid_parameter_value';
  elsif forget_results.action_uuid is not null then
    select * into t from switchyard.thread x where x.action_uuid = forget_results.action_uuid;
    source := coalesce((switchyard.reused(t.action_uuid, t.run) ->> 'action')::uuid, forget_results.action_uuid);
  end if;
  select coalesce(array_agg(r.action_uuid order by r.action_uuid), '{}') into chosen from switchyard.results r
  where (forget_results.workflow is null or r.workflow = forget_results.workflow)
    and (forget_results.version is null or r.version = forget_results.version)
    and (source is null or r.action_uuid = source)
    and (before is null or r.ended_at < before);
  if dry_run then
    return cardinality(chosen);
  end if;
  insert into switchyard.journal (kind, subject, actor, reason, detail)
  values ('forget_results', coalesce(forget_results.workflow, forget_results.action_uuid::text, 'results'), forget_results.actor, forget_results.reason,
    jsonb_strip_nulls(jsonb_build_object('workflow', forget_results.workflow, 'version', forget_results.version,
      'action', forget_results.action_uuid, 'before', before, 'forgotten', cardinality(chosen))));
  return switchyard.leave_reuse(chosen);
end
$$;
comment on function switchyard.forget_results is 'Results of that workflow, version, action or of before that time are not reused any more; how many. dry_run only counts.';

create or replace function switchyard.drop_reuse(first uuid, beyond uuid) returns void
language sql as $$
  select switchyard.leave_reuse(array(select r.action_uuid from switchyard.reuse r where r.action_uuid >= first and r.action_uuid < beyond))
$$;
comment on function switchyard.drop_reuse is 'Retention: forgets the results of a partition.';

create or replace function switchyard.verify_reuse() returns table (action_uuid uuid, problem text, expected text, actual text)
language sql stable as $$
  select r.action_uuid, 'follows, and nobody of its key leads or seeks', 'a leader', r.key::text
  from switchyard.reuse r
  where r.role = 'follows' and not exists (select from switchyard.reuse l where l.key = r.key and l.role = 'leads')
    and not exists (select from switchyard.reuse s where jsonb_hash(s.key) = jsonb_hash(r.key) and s.key = r.key and s.role = 'seeks')
  union all
  select r.action_uuid, 'leads, and is held', 'not held', 'held'
  from switchyard.reuse r join switchyard.yard y using (action_uuid) where r.role = 'leads' and y.due = 'infinity'
  union all
  select r.action_uuid, 'has a result, and was not successful', 'SUCCESSFUL', coalesce(t.status::text, 'gone')
  from switchyard.reuse r left join switchyard.thread t using (action_uuid) where r.role = 'result' and t.status is distinct from 'SUCCESSFUL'
  union all
  select e.action_uuid, 'reused a run that was not successful', 'SUCCESSFUL', e.detail ->> 'reused'
  from switchyard.event e join switchyard.thread t on t.action_uuid = (e.detail -> 'reused' ->> 'action')::uuid
  where e.source = 'reuse' and not e.ignored and not exists (
    select from switchyard.event s where s.action_uuid = t.action_uuid and s.run = (e.detail -> 'reused' ->> 'run')::integer
      and s.status = 'SUCCESSFUL' and not s.ignored)
$$;
comment on function switchyard.verify_reuse is 'Every place where the reuse of results contradicts the ledger; empty when all is well.';
