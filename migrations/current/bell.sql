-- The bell: rings for an action name, at most twice a transaction, and only where a conductor sleeps.
--
-- A conductor that is awake looks for itself. Before it sleeps it tries the name's bell lock exclusively (it never
-- waits for it) and looks again, in a new statement. A writer tries the same lock shared, for its transaction:
--   got      nobody sleeps on this name; whoever wants to must first get the lock, which fails until this transaction
--            has ended, and then looks: it sees these rows. No bell is needed.
--   not got  somebody sleeps armed: ring.
-- So no wake-up is lost, and writers that meet no sleeper pay for a shared lock instead of a NOTIFY.
create or replace function switchyard.bell_key(action_name text) returns integer
language sql immutable parallel safe strict as $$ select hashtext(action_name) $$;
comment on function switchyard.bell_key is 'The second key of the bell lock (1937204078, key) of that action name.';

create or replace function switchyard.bell_channel(action_name text) returns text
language sql immutable parallel safe strict as $$ select 'switchyard_' || md5(action_name) $$;
comment on function switchyard.bell_channel is 'The channel that rings for that action name.';

-- Locks live in a table that all connections share. A transaction of thousands of names must not fill it: past the first
-- thousand it rings without trying the locks.
--
-- The first bell of a transaction, where it is for one action that is ready, says which: its claim needs no search. All
-- later ones are alike, and NOTIFY drops those: a transaction of a million submits rings twice.
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
