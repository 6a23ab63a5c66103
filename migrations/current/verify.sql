-- The invariant: folding the events that were not ignored, by the greatest key, gives the thread; a run has at most one
-- end that counts; the yard holds exactly what has not ended. Of a flow: what its lanes count is what its sessions list, and
-- every ready action is in flight, after its lane's position, listed as behind it, or newer than the last claim.
create or replace function switchyard.verify_flows() returns table (action_uuid uuid, problem text, expected text, actual text)
language sql stable as $$
  with flying as (
    select s.flow, k.id, k.lane from switchyard.flow_session s cross join lateral unnest(s.ids, s.lanes) as k (id, lane)
  ), counted as (
    select c.flow, c.lane, count(*) as ids from flying c group by c.flow, c.lane
  )
  select null::uuid, format('lane %s of %s counts what is in flight', l.lane, l.flow), coalesce(c.ids, 0)::text, l.in_flight::text
  from switchyard.lane l left join counted c using (flow, lane) where l.in_flight <> coalesce(c.ids, 0)
  union all
  select null, format('%s counts what is in flight', s.flow), (select count(*)::text from flying c where c.flow = s.flow), s.in_flight::text
  from switchyard.flow_state s where s.in_flight <> (select count(*) from flying c where c.flow = s.flow)
  union all
  select null, format('lane %s of %s has one row', l.lane, l.flow), '1', count(*)::text
  from switchyard.lane l group by l.flow, l.lane having count(*) > 1
  union all
  select c.id, 'in flight once', '1', count(*)::text from flying c group by c.flow, c.id having count(*) > 1
  union all
  select y.action_uuid, 'ready, and its flow will find it', 'position, early, in flight or newer', format('lane %s of %s', y.lane, y.flow)
  from switchyard.yard y
  join switchyard.flow_state s using (flow)
  left join switchyard.lane l using (flow, lane)
  where y.status in ('PENDING', 'BACKOFF') and y.due is null and pg_visible_in_snapshot(y.entered, s.seen) and (
      l.flow is null or l.state = 'empty'
      or ((y.rank, y.action_uuid) <= (l.from_rank, l.from_uuid) and y.action_uuid <> all (l.early)))
    and not exists (select from flying c where c.flow = y.flow and c.id = y.action_uuid)
  union all
  select y.action_uuid, 'rank in its lane', r.rank::text, y.rank::text
  from switchyard.yard y join switchyard.flow f using (flow)
  cross join lateral (select switchyard.rank_of(y.priority, y.action_uuid, f.priority_aging) as rank) as r
  where y.rank <> r.rank and (f.reranked is null or y.action_uuid <= f.reranked)
$$;
comment on function switchyard.verify_flows is 'Every place where lanes contradict the queue; empty when all is well.';

create or replace function switchyard.verify() returns table (action_uuid uuid, problem text, expected text, actual text)
language sql stable set jit = off as $$ -- with jit, 100 actions took 8 s on Postgres 15; without, 15 ms
  with step as (
    select e.action_uuid, e.run, e.attempt, e.status, e.error, switchyard.note_of(e.status, e.error, e.detail) as note,
      case when e.status = 'BACKOFF' then e.event_time + make_interval(secs => coalesce(e.retry_seconds, 0)) end as due
    from switchyard.event e where not e.ignored and e.status <> 'INFO'
    union all
    select a.action_uuid, 1, 0, 'PENDING', null, null, a.start_after from switchyard.action a
  ), folded as (
    select distinct on (s.action_uuid) s.*,
      (select count(*) from switchyard.event e where e.action_uuid = s.action_uuid and not e.ignored and e.status = 'BACKOFF' and e.attempt = 0
         and e.run > coalesce((select max(r.run) from switchyard.event r where r.action_uuid = s.action_uuid and not r.ignored
           and r.status = 'PENDING' and r.attempt = 0 and r.run > 1), 1)) as tries
    from step s order by s.action_uuid, s.run desc, s.status >= 'SUCCESSFUL' desc, s.attempt desc, s.status desc
  )
  select coalesce(f.action_uuid, t.action_uuid), 'thread differs from its events',
    format('%s run %s attempt %s tries %s due %s error %s note %s', f.status, f.run, f.attempt, f.tries, f.due, f.error, f.note),
    format('%s run %s attempt %s tries %s due %s error %s note %s', t.status, t.run, t.attempt, t.tries, t.next_attempt_after, t.error, t.note)
  from folded f full join switchyard.thread t using (action_uuid)
  where (f.status, f.run, f.attempt, f.tries, f.due, f.error, f.note)
    is distinct from (t.status, t.run, t.attempt, t.tries::bigint, t.next_attempt_after, t.error, t.note)
  union all
  select t.action_uuid, 'cause differs from its status', t.status::text, coalesce(t.cause, 'no cause')
  from switchyard.thread t
  where (t.cause is not null) <> (t.status > 'SUCCESSFUL' and t.status <> 'CANCELED')
  union all
  select e.action_uuid, 'run has several ends that count', '1', count(*)::text
  from switchyard.event e where not e.ignored and e.status >= 'SUCCESSFUL'
  group by e.action_uuid, e.run having count(*) > 1
  union all
  select coalesce(t.action_uuid, y.action_uuid), 'yard differs from its thread',
    format('%s run %s attempt %s', t.status, t.run, t.attempt), format('%s run %s attempt %s', y.status, y.run, y.attempt)
  from (select * from switchyard.thread where status < 'SUCCESSFUL') t full join switchyard.yard y using (action_uuid)
  where (t.status, t.run, t.attempt, t.action_name, t.priority, t.lock_id)
      is distinct from (y.status, y.run, y.attempt, y.action_name, y.priority, y.lock_id)
    or (y.due < 'infinity' and y.due is distinct from t.next_attempt_after)
    or coalesce(y.due = 'infinity', false) and not exists (select from switchyard.waiting w where w.action_uuid = y.action_uuid)
      and not exists (select from switchyard.reuse r where r.action_uuid = y.action_uuid and r.role in ('seeks', 'follows'))
    or (y.due is null and y.status in ('PENDING', 'BACKOFF') and t.next_attempt_after > now())
  union all
  select * from switchyard.verify_flows()
  union all
  select * from switchyard.verify_sets()
  union all
  select * from switchyard.verify_reuse()
$$;
comment on function switchyard.verify is 'Every place where the ledger contradicts itself; empty when all is well.';
