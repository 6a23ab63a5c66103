-- beat: a heartbeat, and what was done since the last one; no row comes back once the worker was marked lost
with beaten as (
  update switchyard.worker set beat_at = clock_timestamp(), done = %(done)s, failed = %(failed)s, rate = %(rate)s,
    rests = make_interval(secs => %(rests)s), state = coalesce(%(state)s::jsonb, state)
  where worker_id = %(worker)s and lost_at is null and ended_at is null
  returning worker_id, action_name
), active as (
  insert into switchyard.activity as a (minute, action_name, worker_id, ended, failed, busy_seconds)
  select date_trunc('minute', clock_timestamp()), b.action_name, b.worker_id, %(ended)s::integer, %(ended_badly)s::integer, %(busy)s::float8
  from beaten b where b.action_name is not null and (%(ended)s::integer > 0 or %(busy)s::float8 > 0)
  on conflict (minute, action_name, worker_id) do update
  set ended = a.ended + excluded.ended, failed = a.failed + excluded.failed, busy_seconds = a.busy_seconds + excluded.busy_seconds
)
select worker_id from beaten;

-- end: a regular end closes the row
update switchyard.worker
set ended_at = clock_timestamp(), beat_at = clock_timestamp(), done = %(done)s, failed = %(failed)s, rate = %(rate)s
where worker_id = %(worker)s and ended_at is null and lost_at is null;

-- living: the workers that should beat, their last beats, and how long each rests until the next
select worker_id, kind, beat_at, extract(epoch from rests)::double precision from switchyard.worker where ended_at is null and lost_at is null;

-- mark_lost: workers without a heartbeat since those times; their connections are ended
select worker_id, kind, action_name, host, beat_at, terminated
from switchyard.mark_lost(%(workers)s::uuid[], %(beats)s::timestamptz[]);
