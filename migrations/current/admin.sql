-- Decisions of administrators: each is recorded as an event, or a journal entry, with the actor and the reason.

create or replace function switchyard.named(field text, given text) returns text
language plpgsql immutable as $$
begin
  if coalesce(btrim(given), '') = '' then
    raise exception '%: must say something', field using errcode = 'null_value_not_allowed';
  end if;
  return given;
end
$$;
comment on function switchyard.named is 'The text, which must not be empty.';

create or replace function switchyard.locked_thread(id uuid) returns switchyard.thread
language plpgsql as $$
declare
  t switchyard.thread;
begin
  select * into t from switchyard.thread where action_uuid = id for update;
  if not found then
    raise exception 'action_uuid: there is no action %', id using errcode = 'no_data_found';
  end if;
  return t;
end
$$;
comment on function switchyard.locked_thread is 'The thread under its row lock; an error where there is none.';

-- The backend defines the meaning of `failed`: its handler reads it as Work.resumes. A backend that cannot continue an execution starts a new one.
create or replace function switchyard.retrigger(action_uuid uuid, actor text, reason text, resume_from text default 'failed') returns integer
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  t switchyard.thread;
begin
  -- The set first, if it belongs to one or is one: the order in which all lock them.
  perform from switchyard.sets s where s.action_uuid in (
    retrigger.action_uuid, (select a.member_of from switchyard.action a where a.action_uuid = retrigger.action_uuid))
  order by s.action_uuid for update;
  t := switchyard.locked_thread(action_uuid);
  if resume_from is null or resume_from not in ('start', 'failed') then
    raise exception 'resume_from: must be start or failed, not %', resume_from using errcode = 'invalid_parameter_value';
  elsif t.status <= 'SUCCESSFUL' then
    raise exception 'action % is %: only one that ended without success can be retriggered', action_uuid, t.status
      using errcode = 'object_not_in_prerequisite_state';
  elsif t.callbacks_due then
    raise exception 'action %: the callbacks of run % are still being made, try again in a moment', action_uuid, t.run
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  perform switchyard.named('actor', actor), switchyard.named('reason', reason);
  if exists (select from switchyard.sets s where s.action_uuid = t.action_uuid) then
    return switchyard.retrigger_set(t.action_uuid, actor, reason);
  end if;
  insert into switchyard.event (action_uuid, status, run, attempt, source, detail)
  values (t.action_uuid, 'PENDING', t.run + 1, 0, 'admin', jsonb_build_object(
    'actor', actor, 'reason', reason, 'resume_from', resume_from, 'note', format('retriggered by %s: %s', actor, reason)));
  perform switchyard.reopen_waiters(t.action_uuid, actor, reason);
  return t.run + 1;
end
$$;
comment on function switchyard.retrigger is 'Opens the next run of an action that ended without success, from the start or from what failed; returns its number.';

create or replace function switchyard.cancel(action_uuid uuid, actor text, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  t switchyard.thread := switchyard.locked_thread(action_uuid);
begin
  perform switchyard.named('actor', actor), switchyard.named('reason', reason);
  if t.status >= 'SUCCESSFUL' then
    return false;
  end if;
  insert into switchyard.event (action_uuid, status, run, attempt, source, error, detail)
  values (t.action_uuid, 'CANCELED', t.run, t.attempt, 'admin', format('canceled by %s: %s', actor, reason),
    jsonb_build_object('actor', actor, 'reason', reason, 'note', format('canceled by %s: %s', actor, reason)));
  -- Its execution, if there is one, is caboose's to stop.
  perform pg_notify('switchyard_caboose', t.action_uuid::text);
  return true;
end
$$;
comment on function switchyard.cancel is 'Ends an action that has not ended; false where it had.';

create or replace function switchyard.pause(action_name text, actor text, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
begin
  insert into switchyard.paused (action_name, actor, reason)
  values (switchyard.named('action_name', pause.action_name), switchyard.named('actor', pause.actor), switchyard.named('reason', pause.reason))
  on conflict do nothing;
  if not found then
    return false;
  end if;
  insert into switchyard.journal (kind, subject, actor, reason) values ('pause', pause.action_name, pause.actor, pause.reason);
  return true;
end
$$;
comment on function switchyard.pause is 'Nothing more of that name is claimed; false where it was paused already.';

create or replace function switchyard.resume(action_name text, actor text, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
begin
  perform switchyard.named('actor', actor), switchyard.named('reason', reason);
  delete from switchyard.paused p where p.action_name = resume.action_name;
  if not found then
    return false;
  end if;
  insert into switchyard.journal (kind, subject, actor, reason) values ('resume', resume.action_name, resume.actor, resume.reason);
  perform switchyard.ring(array[resume.action_name]);
  return true;
end
$$;
comment on function switchyard.resume is 'That name is claimed again; false where it was not paused.';

create or replace function switchyard.dismiss(entry_id bigint, actor text, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
begin
  update switchyard.journal j set needs_review = false,
    detail = coalesce(j.detail, '{}') || jsonb_build_object('dismissed_by', switchyard.named('actor', dismiss.actor), 'dismissed_because', switchyard.named('reason', dismiss.reason))
  where j.entry_id = dismiss.entry_id and j.needs_review;
  return found;
end
$$;
comment on function switchyard.dismiss is 'Takes a journal entry out of the inbox.';

create or replace function switchyard.dismiss_thread(action_uuid uuid, actor text, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  t switchyard.thread := switchyard.locked_thread(action_uuid);
begin
  perform switchyard.named('actor', actor), switchyard.named('reason', reason);
  if not t.needs_review then
    return false;
  end if;
  update switchyard.thread x set needs_review = false where x.action_uuid = t.action_uuid;
  insert into switchyard.event (action_uuid, status, run, attempt, source, detail)
  values (t.action_uuid, 'INFO', t.run, t.attempt, 'admin', jsonb_build_object('dismissed', true, 'actor', actor, 'reason', reason));
  return true;
end
$$;
comment on function switchyard.dismiss_thread is 'Takes a failed action out of the inbox and leaves it as it ended; false where it was not there.';

create or replace function switchyard.call_back(action_uuid uuid, actor text, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  t switchyard.thread := switchyard.locked_thread(action_uuid);
begin
  perform switchyard.named('actor', actor), switchyard.named('reason', reason);
  if t.ended_at is null then
    raise exception 'action % is %: only one that ended has callbacks', action_uuid, t.status
      using errcode = 'object_not_in_prerequisite_state';
  elsif t.callbacks_due then
    return false;
  end if;
  update switchyard.thread x set callbacks_due = true where x.action_uuid = t.action_uuid;
  -- The time of this event is part of the uuids of the callbacks: they are new actions, and the same ones if caboose repeats itself.
  insert into switchyard.event (action_uuid, status, run, attempt, source, detail)
  values (t.action_uuid, 'INFO', t.run, t.attempt, 'admin', jsonb_build_object('call_back', true, 'actor', actor, 'reason', reason));
  perform pg_notify('switchyard_caboose', t.action_uuid::text);
  return true;
end
$$;
comment on function switchyard.call_back is 'Makes the callbacks of an ended action again, as they are configured now; false where they are still due.';

-- Narrower than dismiss: entries of people, conductors or the database stay in the inbox.
create or replace function switchyard.notice_over(kind text, subject text, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
begin
  update switchyard.journal j set needs_review = false,
    detail = coalesce(j.detail, '{}') || jsonb_build_object('dismissed_by', 'caboose', 'dismissed_because', switchyard.named('reason', notice_over.reason))
  where j.needs_review and j.actor = 'caboose' and j.kind = notice_over.kind and j.subject = notice_over.subject;
  return found;
end
$$;
comment on function switchyard.notice_over is 'Takes out of the inbox what caboose put there, once it is over by itself.';

create or replace function switchyard.callbacks_made(action_uuid uuid, run integer) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
begin
  update switchyard.thread t set callbacks_due = false
  where t.action_uuid = callbacks_made.action_uuid and t.run = callbacks_made.run and t.callbacks_due;
  return found;
end
$$;
comment on function switchyard.callbacks_made is 'Clears callbacks_due, in the transaction that inserted the callbacks.';

create or replace function switchyard.lock_free_threads(action_uuids uuid[]) returns setof uuid
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  threads uuid[] := array(
    select t.action_uuid from switchyard.thread t where t.action_uuid = any (action_uuids)
    order by t.action_uuid for update skip locked);
  open_threads uuid[] := array(
    select y.action_uuid from switchyard.yard y where y.action_uuid = any (threads)
    order by y.action_uuid for update skip locked);
begin
  return query select u.action_uuid from unnest(threads) as u (action_uuid)
    where u.action_uuid = any (open_threads)
      or not exists (select from switchyard.yard y where y.action_uuid = u.action_uuid);
end
$$;
comment on function switchyard.lock_free_threads is 'Locks those of these threads that nobody else has locked, until the transaction ends: after a write waited for a lock, the others are written without the locked ones.';
