-- Four roles without login, each with just what it needs; grant them to the users that programs and people connect as.
-- Applied after all other files. Roles belong to the whole server: another database may have made them, or somebody who
-- may, for a user that migrates needs CREATEROLE only where one is missing. So each role is granted everything by itself:
-- membership of one in another could be granted only by whoever made them.
do $$
declare
  role text;
begin
  foreach role in array array['switchyard_admin', 'switchyard_worker', 'switchyard_submitter', 'switchyard_reader'] loop
    if not exists (select from pg_roles where rolname = role) then
      begin
        execute format('create role %I nologin', role);
      exception
        when duplicate_object or unique_violation then
          raise notice 'role % was made meanwhile', role;
        when insufficient_privilege then
          raise exception 'there is no role %, and this user may not create it', role using
            errcode = 'insufficient_privilege',
            hint = 'Grant CREATEROLE to the user that migrates, or let somebody who has it run: create role switchyard_admin;'
              ' create role switchyard_worker; create role switchyard_submitter; create role switchyard_reader;';
      end;
    end if;
  end loop;
end
$$;
revoke all on all functions in schema switchyard from public;
grant usage on schema switchyard to switchyard_admin, switchyard_worker, switchyard_submitter, switchyard_reader;

-- A reader sees; it changes nothing.
grant select on all tables in schema switchyard to switchyard_reader, switchyard_worker, switchyard_admin;
grant select on public.migration to switchyard_reader, switchyard_worker, switchyard_admin;
grant execute on function switchyard.uuid_floor(timestamptz), switchyard.uuid_lock(uuid), switchyard.verify(),
  switchyard.note_of(switchyard.event), switchyard.waiting_names(),
  switchyard.bell_key(text), switchyard.bell_channel(text) to switchyard_reader, switchyard_worker, switchyard_admin;
grant execute on function switchyard.uuid_time(uuid), switchyard.is_within_limits(jsonb)
  to switchyard_reader, switchyard_submitter, switchyard_worker, switchyard_admin;

-- A submitter asks for actions, and sees nothing of others'.
grant execute on function switchyard.submit(text, jsonb, text, integer, text, text, timestamptz, uuid, jsonb),
  switchyard.submit_many(jsonb), switchyard.uuid7(timestamptz) to switchyard_submitter, switchyard_worker, switchyard_admin;
grant insert on switchyard.action to switchyard_submitter, switchyard_worker, switchyard_admin;

-- A worker claims, reports and calls back.
-- All columns but recorded_by, so that nobody reports in another's name.
grant insert (action_uuid, event_time, status, run, attempt, source, error, retry_seconds, detail)
  on switchyard.event to switchyard_worker, switchyard_admin;
grant insert (kind, subject, actor, reason, detail, needs_review) on switchyard.journal to switchyard_worker, switchyard_admin;
grant usage on sequence switchyard.event_id to switchyard_worker, switchyard_admin;
grant insert, update, delete on switchyard.worker, switchyard.route to switchyard_worker, switchyard_admin;
grant execute on function switchyard.claim(text, integer, uuid[]), switchyard.claim_one(text, uuid),
  switchyard.describe(uuid[]), switchyard.claim_orphans(text, integer, uuid[]), switchyard.unlock(bigint[]),
  switchyard.forget_gone(uuid[]),
  switchyard.ring(text[], uuid), switchyard.callbacks_made(uuid, integer), switchyard.lock_free_threads(uuid[]),
  switchyard.notice_over(text, text, text),
  switchyard.register_worker(text, text, text, text, integer, text, text, integer), switchyard.mark_lost(uuid[], timestamptz[]),
  switchyard.pause_where_lost(double precision, integer, interval), switchyard.end_unserved(text[], interval, integer),
  switchyard.take_tokens(text, double precision, double precision, integer),
  switchyard.give_tokens(text, double precision, integer), switchyard.pause(text, text, text),
  switchyard.ensure_partitions(integer, text), switchyard.drop_partition(text) to switchyard_worker, switchyard_admin;

-- An administrator decides.
grant execute on function switchyard.retrigger(uuid, text, text), switchyard.cancel(uuid, text, text),
  switchyard.resume(text, text, text), switchyard.dismiss(bigint, text, text),
  switchyard.dismiss_thread(uuid, text, text), switchyard.call_back(uuid, text, text),
  switchyard.drop_partitions(timestamptz) to switchyard_admin;
grant update on switchyard.partitioning to switchyard_admin;
