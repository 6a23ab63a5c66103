-- Four roles without login, with just what each needs; grant them to the users that programs and people connect as.
-- Roles belong to the whole server, so another database may have made them already, and downgrading leaves them.
do $$
declare
  role text;
begin
  foreach role in array array['switchyard_admin', 'switchyard_worker', 'switchyard_submitter', 'switchyard_reader'] loop
    begin
      execute format('create role %I nologin', role);
    exception when duplicate_object or unique_violation then
      raise notice 'role % is there already', role;
    end;
  end loop;
end
$$;
revoke all on all functions in schema switchyard from public;
grant usage on schema switchyard to switchyard_admin, switchyard_worker, switchyard_submitter, switchyard_reader;

-- A reader sees; it changes nothing.
grant select on all tables in schema switchyard to switchyard_reader;
grant select on public.migration to switchyard_reader;
grant execute on function switchyard.uuid_time(uuid), switchyard.uuid_floor(timestamptz), switchyard.uuid_lock(uuid),
  switchyard.verify(), switchyard.bell_key(text), switchyard.bell_channel(text) to switchyard_reader;

-- A submitter asks for actions, and sees nothing of others'.
grant execute on function switchyard.submit(text, jsonb, text, integer, text, text, timestamptz, uuid, jsonb),
  switchyard.submit_many(jsonb), switchyard.uuid7(timestamptz), switchyard.uuid_time(uuid) to switchyard_submitter;
grant insert on switchyard.action to switchyard_submitter;

-- A worker claims, reports and calls back.
grant switchyard_reader, switchyard_submitter to switchyard_worker;
grant insert on switchyard.event, switchyard.journal to switchyard_worker;
grant usage on sequence switchyard.event_id to switchyard_worker;
grant insert, update, delete on switchyard.worker, switchyard.route to switchyard_worker;
grant execute on function switchyard.claim(text, integer, uuid[]), switchyard.claim_one(text, uuid), switchyard.describe(uuid[]),
  switchyard.claim_orphans(text, integer, uuid[]), switchyard.unlock(bigint[]), switchyard.ring(text[], uuid), switchyard.callbacks_made(uuid, integer), switchyard.notice_over(text, text, text),
  switchyard.mark_lost(interval), switchyard.take_tokens(text, double precision, double precision, integer),
  switchyard.give_tokens(text, double precision, integer), switchyard.pause(text, text, text),
  switchyard.ensure_partitions(integer), switchyard.drop_partition(text) to switchyard_worker;

-- An administrator decides.
grant switchyard_worker to switchyard_admin;
grant execute on function switchyard.retrigger(uuid, text, text), switchyard.cancel(uuid, text, text),
  switchyard.resume(text, text, text), switchyard.dismiss(bigint, text, text),
  switchyard.drop_partitions(timestamptz) to switchyard_admin;
grant update on switchyard.partitioning to switchyard_admin;
