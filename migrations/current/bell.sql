-- The bell: notifies the workers of an action name, at most twice per transaction, and only if one of them sleeps.
--
-- A worker that is awake polls. Before it sleeps it tries the name's bell lock exclusively (it never waits for it)
-- and looks again, in a new statement. A writer tries the same lock in shared mode, until the end of its transaction:
--   granted      no worker of this name sleeps. One that wants to sleep must first get the lock, which fails until this
--                transaction has ended; then it looks again and sees these rows. No NOTIFY is needed.
--   not granted  a worker sleeps: send a NOTIFY.
-- So no wake-up is lost, and writers that find no sleeping worker pay for a shared lock instead of a NOTIFY.
create or replace function switchyard.bell_key(action_name text) returns integer
language sql immutable parallel safe strict as $$ select hashtext(action_name) $$;
comment on function switchyard.bell_key is 'The second key of the bell lock (1937204078, key) of that action name.';

create or replace function switchyard.bell_channel(action_name text) returns text
language sql immutable parallel safe strict as $$ select 'switchyard_' || md5(action_name) $$;
comment on function switchyard.bell_channel is 'The channel that rings for that action name.';

-- All connections share one lock table. A transaction with thousands of names must not fill it: after the first
-- thousand it notifies without trying the locks.
--
-- The first notification of a transaction names its action if that is a single ready one: its claim needs no search. All
-- later ones are equal, and NOTIFY drops duplicates: a transaction of a million submits notifies twice.
create or replace function switchyard.ring(action_names text[], p_ready uuid default null) returns void
language plpgsql as $$
declare
  name text;
  payload text := '';
  tried integer := coalesce(nullif(current_setting('switchyard.bells', true), ''), '0')::integer;
begin
  foreach name in array coalesce(action_names, '{}') loop
    tried := tried + 1;
    if tried > 1000 or not pg_try_advisory_xact_lock_shared(1937204078, switchyard.bell_key(name)) then
      if p_ready is not null and coalesce(current_setting('switchyard.rang', true), '') = '' then
        perform set_config('switchyard.rang', 'yes', true);
        payload := p_ready;
      end if;
      perform pg_notify(switchyard.bell_channel(name), payload);
    end if;
  end loop;
  perform set_config('switchyard.bells', tried::text, true);
end
$$;
comment on function switchyard.ring is 'Wakes the conductors that sleep on those names, when this transaction commits.';
