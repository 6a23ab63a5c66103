-- Six roles without login, each with the minimum of privileges; grant them to the users that programs and people connect as.
-- Applied after all other files. Roles belong to the whole server: they may have been created for another database, or by an
-- administrator, because the user that migrates needs CREATEROLE only if one is missing. So all privileges are granted to each role
-- directly: membership of one role in another could be granted only by their creator.
do $$
declare
  role text;
begin
  foreach role in array array['switchyard_admin', 'switchyard_operator', 'switchyard_worker', 'switchyard_submitter', 'switchyard_client',
      'switchyard_reader'] loop
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
              ' create role switchyard_operator; create role switchyard_worker; create role switchyard_submitter;'
              ' create role switchyard_client; create role switchyard_reader;';
      end;
    end if;
    -- So that its user can run signalbox, which takes a caller's role. Where somebody else made the roles, they grant them.
    if not pg_has_role(current_user, role, 'usage') then
      begin
        execute format('grant %I to %I', role, current_user);
      exception
        when insufficient_privilege or unique_violation then
          raise notice 'role % has to be granted to % by somebody who may', role, current_user;
      end;
    end if;
  end loop;
end
$$;
revoke all on all functions in schema switchyard from public;
grant usage on schema switchyard to switchyard_admin, switchyard_operator, switchyard_worker, switchyard_submitter,
  switchyard_client, switchyard_reader;

-- A reader has read access only.
grant select on all tables in schema switchyard to switchyard_reader, switchyard_worker, switchyard_admin;
grant select on public.migration to switchyard_reader, switchyard_worker, switchyard_admin;
grant execute on function switchyard.uuid_floor(timestamptz), switchyard.uuid_lock(uuid), switchyard.verify(), switchyard.verify_flows(), switchyard.rank_of(smallint, uuid, double precision), switchyard.verify_sets(), switchyard.verify_reuse(), switchyard.tally_of(uuid),
  switchyard.note_of(switchyard.status, text, jsonb), switchyard.cause_of(text), switchyard.waiting_names(),
  switchyard.bell_key(text), switchyard.bell_channel(text) to switchyard_reader, switchyard_worker, switchyard_admin;
grant execute on function switchyard.uuid_time(uuid), switchyard.is_within_limits(jsonb), switchyard.are_tags(text[])
  to switchyard_reader, switchyard_submitter, switchyard_worker, switchyard_admin;
grant execute on function switchyard.why(uuid), switchyard.why_detail(uuid)
  to switchyard_reader, switchyard_operator, switchyard_worker, switchyard_admin;

-- A submitter submits actions, and does not see those of others.
grant execute on function switchyard.submit(text, jsonb, text, integer, text, text, timestamptz, uuid, jsonb, text, text[], uuid[], text, boolean),
  switchyard.submit_many(jsonb), switchyard.submit_graph(jsonb), switchyard.uuid7(timestamptz) to switchyard_submitter, switchyard_worker, switchyard_admin;
-- All columns except submitted_by, so that no user can submit in another's name.
grant insert (action_uuid, action_type, action_name, workflow, callback, parent_uuid, priority, parameters, callbacks, correlation_id,
  idempotency_key, start_after, lane, tags, after, after_policy, no_cache) on switchyard.action to switchyard_submitter, switchyard_worker, switchyard_admin;

-- A worker claims, reports, and inserts callbacks.
-- All columns except recorded_by, so that no user can report in another's name.
grant insert (action_uuid, event_time, status, run, attempt, source, error, retry_seconds, detail)
  on switchyard.event to switchyard_worker, switchyard_admin;
grant insert (kind, subject, actor, reason, detail, needs_review) on switchyard.journal to switchyard_worker, switchyard_admin;
grant usage on sequence switchyard.event_id to switchyard_worker, switchyard_admin;
grant insert, update, delete on switchyard.worker, switchyard.route, switchyard.activity to switchyard_worker, switchyard_admin;
grant execute on function switchyard.claim(text, integer, uuid[]), switchyard.claim_one(text, uuid),
  switchyard.describe(uuid[], integer[]), switchyard.claim_orphans(text, integer, uuid[]), switchyard.unlock(bigint[]), switchyard.release(bigint[]), switchyard.flow_has_work(text), switchyard.due_names(text[]),
  switchyard.lane_claim(text, integer, uuid[], text[], double precision[]), switchyard.announce_flows(jsonb), switchyard.withdraw_flows(text[]),
  switchyard.forget_gone(uuid[]),
  switchyard.ring(text[], uuid), switchyard.callbacks_made(uuid, integer), switchyard.lock_free_threads(uuid[]),
  switchyard.notice_over(text, text, text),
  switchyard.register_worker(text, text, text, text, integer, text, text, integer), switchyard.mark_lost(uuid[], timestamptz[]),
  switchyard.pause_where_lost(double precision, integer, interval), switchyard.end_unserved(text[], interval, integer),
  switchyard.correct_backoff(integer),
  switchyard.take_tokens(text, double precision, double precision, integer),
  switchyard.give_tokens(text, double precision, integer), switchyard.pause(text, text, text),
  switchyard.tick(text, integer, timestamptz, timestamptz[], timestamptz, integer), switchyard.release_tick(text),
  switchyard.settle_waiting(integer, boolean), switchyard.settle_sets(integer), switchyard.settle_reuse(integer), switchyard.submit_items(integer),
  switchyard.open_graph(uuid, integer, integer, jsonb),
  switchyard.ensure_partitions(integer, text), switchyard.drop_partition(text) to switchyard_worker, switchyard_admin;

-- An administrator makes decisions.
grant execute on function switchyard.retrigger(uuid, text, text, text), switchyard.retrigger_members(uuid, integer, text, text, timestamptz, text),
  switchyard.cancel(uuid, text, text), switchyard.resume(text, text, text), switchyard.dismiss(bigint, text, text),
  switchyard.dismiss_thread(uuid, text, text), switchyard.call_back(uuid, text, text),
  switchyard.apply_schedule(text, jsonb, timestamptz, integer, text), switchyard.remove_schedule(text, text, text),
  switchyard.pause_schedule(text, text, text), switchyard.resume_schedule(text, integer, timestamptz, text, text),
  switchyard.trigger_schedule(text, text, text), switchyard.backfill_schedule(text, timestamptz[], text, text),
  switchyard.drop_partitions(timestamptz) to switchyard_admin;
grant execute on function switchyard.start_campaign, switchyard.feed, switchyard.report_source, switchyard.pause_campaign,
  switchyard.resume_campaign, switchyard.retrigger_campaign to switchyard_operator, switchyard_admin;
grant execute on function switchyard.forget_results to switchyard_operator, switchyard_admin;
grant update on switchyard.partitioning to switchyard_admin;

-- A client is a submitter of the HTTP API: it submits in the name that signalbox sets, and sees what it submitted.
-- Granted to signalbox only, because a member may act for any caller.
grant select on switchyard.visible_action, switchyard.visible_footprint, switchyard.job, switchyard.job_event, switchyard.route to switchyard_client;
grant execute on function switchyard.caller(), switchyard.sees_all(), switchyard.job_status(switchyard.status, timestamptz),
  switchyard.progress_of(uuid, integer), switchyard.family(uuid, integer), switchyard.graph_of(uuid), switchyard.job_why(uuid), switchyard.job_usual(uuid), switchyard.reused(uuid, integer), switchyard.located(box[], uuid, uuid, integer),
  switchyard.located_end(box[], uuid, uuid, integer), switchyard.uuid_floor(timestamptz), switchyard.uuid_time(uuid)
  to switchyard_client, switchyard_reader, switchyard_operator, switchyard_worker, switchyard_admin;
grant execute on function switchyard.use_token(bytea) to switchyard_client;
grant execute on function switchyard.execute(text, jsonb, text, text, jsonb, jsonb, text, integer, text, text[], text, boolean, timestamptz, uuid[], text),
  switchyard.execute_job, switchyard.dismiss_job(uuid, text) to switchyard_client, switchyard_operator, switchyard_admin;

-- An operator reads everything, submits, and makes decisions about actions and queues.
grant select on all tables in schema switchyard to switchyard_operator;
grant select on public.migration to switchyard_operator;
grant execute on function switchyard.submit, switchyard.submit_graph(jsonb), switchyard.retrigger_members(uuid, integer, text, text, timestamptz, text), switchyard.tally_of(uuid),
  switchyard.uuid7(timestamptz), switchyard.is_within_limits(jsonb), switchyard.waiting_names(), switchyard.note_of(switchyard.status, text, jsonb),
  switchyard.retrigger(uuid, text, text, text), switchyard.cancel(uuid, text, text), switchyard.pause(text, text, text),
  switchyard.resume(text, text, text), switchyard.dismiss(bigint, text, text),
  switchyard.dismiss_thread(uuid, text, text), switchyard.call_back(uuid, text, text) to switchyard_operator;

-- Only administrators see and change tokens.
revoke select on switchyard.token from switchyard_reader, switchyard_worker, switchyard_operator;
grant execute on function switchyard.add_token(text, bytea, text, timestamptz, text), switchyard.revoke_token(text, text, text)
  to switchyard_admin;
