-- After the server's clock was wrong. A BACKOFF that was recorded while it was ahead is due that much too late once the clock
-- is right. Its event then has a time in the future, which no other event has: that time is corrected, and with it the
-- thread and its row in the yard. Threads are locked first, in uuid order, as the roll-up does.
create or replace function switchyard.correct_backoff(p_limit integer) returns integer
language plpgsql security definer set search_path = switchyard, pg_temp
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  ahead timestamptz := clock_timestamp() + interval '1 minute';
  wrong uuid[];
  names text[];
begin
  wrong := array(
    select t.action_uuid from switchyard.yard y join switchyard.thread t using (action_uuid)
    where y.status = 'BACKOFF' and y.due > ahead and exists (
      select from switchyard.event e where e.action_uuid = y.action_uuid and e.run = y.run and e.attempt = y.attempt
        and e.status = 'BACKOFF' and not e.ignored and e.event_time > ahead)
    order by t.action_uuid limit p_limit for update of t skip locked);
  update switchyard.event e set event_time = clock_timestamp() from switchyard.thread t
  where t.action_uuid = any (wrong) and t.status = 'BACKOFF' and e.action_uuid = t.action_uuid and e.run = t.run
    and e.attempt = t.attempt and e.status = 'BACKOFF' and not e.ignored and e.event_time > ahead;
  update switchyard.thread t set next_attempt_after = switchyard.due_after(e.status, e.event_time, e.retry_seconds)
  from switchyard.event e
  where t.action_uuid = any (wrong) and t.status = 'BACKOFF' and e.action_uuid = t.action_uuid and e.run = t.run
    and e.attempt = t.attempt and e.status = 'BACKOFF' and not e.ignored;
  with due_again as (
    update switchyard.yard y set due = t.next_attempt_after from switchyard.thread t
    where y.action_uuid = any (wrong) and t.action_uuid = y.action_uuid and y.status = 'BACKOFF' and t.status = 'BACKOFF'
    returning y.action_name
  )
  select array_agg(distinct d.action_name) into names from due_again d;
  perform switchyard.ring(names);
  return cardinality(wrong);
end
$$;
comment on function switchyard.correct_backoff is 'Corrects retries that were recorded while the server''s clock was ahead; returns how many, at most p_limit.';
