-- The schema, the statuses, and version 7 uuids: the id alone tells a row's age and so its partition.
create schema switchyard;
comment on schema switchyard is 'Every asynchronous action, its current state (thread) and every step it took (event); also the queue.';

-- The order is the rank in which a thread may move within an attempt; everything from SUCCESSFUL on is an end.
create type switchyard.status as enum (
  'INFO', 'PENDING', 'QUEUED', 'RUNNING', 'BACKOFF',
  'SUCCESSFUL', 'FAILED', 'CANCELED', 'TIMED_OUT', 'INVALID', 'RETRIES_EXHAUSTED'
);
comment on type switchyard.status is 'In order of rank; INFO changes nothing; from SUCCESSFUL on, the run has ended.';

-- Millisecond in the first 48 bits, the fraction of it in the 12 bits behind the version: ids of one session sort by age.
-- One expression that uses its argument once, so that Postgres inlines it: called as a function it took 9 us, so 3.6.
create function switchyard.uuid7(at timestamptz default clock_timestamp()) returns uuid
language sql volatile parallel safe as $$
  select (overlay(lpad(to_hex((date_part('epoch', at) * 4096000)::bigint), 15, '0') placing '7' from 13 for 0)
    || right(gen_random_uuid()::text, 18))::uuid
$$;
comment on function switchyard.uuid7 is 'A new version 7 uuid for that moment.';

create function switchyard.uuid_floor(at timestamptz) returns uuid
language sql immutable parallel safe as $$
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;
comment on function switchyard.uuid_floor is 'The smallest uuid of that moment: the bound of a partition.';

create function switchyard.uuid_time(id uuid) returns timestamptz
language sql immutable parallel safe strict as $$
  select to_timestamp((('x' || encode(substring(uuid_send(id) for 6), 'hex'))::bit(48)::bigint)::double precision / 1000)
$$;
comment on function switchyard.uuid_time is 'When that version 7 uuid was made, to the millisecond.';

create function switchyard.uuid_lock(id uuid) returns bigint
language sql immutable parallel safe strict as $$
  select ('x' || encode(substring(uuid_send(id) from 9), 'hex'))::bit(64)::bigint
$$;
comment on function switchyard.uuid_lock is 'The advisory lock that conductor and caboose share for that action: the last 8 bytes.';

-- Raises from inside an expression, so that a set-based statement can refuse one row by name.
create function switchyard.refuse(message text, code text) returns text
language plpgsql volatile as $$
begin
  raise exception using message = message, errcode = code;
end
$$;
comment on function switchyard.refuse is 'Raises that message with that error code.';
