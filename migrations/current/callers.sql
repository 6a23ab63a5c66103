-- The caller: the user that is logged in, or the one that signalbox acts for.

-- Signalbox logs in as one user and sets the name of each caller; this is accepted from members of switchyard_client only.
create or replace function switchyard.caller() returns text
language plpgsql stable as $$
declare
  named text := current_setting('switchyard.caller', true);
begin
  if named <> '' and pg_has_role(session_user, 'switchyard_client', 'member') then
    return named;
  end if;
  return session_user;
end
$$;
comment on function switchyard.caller is 'The caller that signalbox names, else the user that is logged in.';

-- The role that was set, also inside a function that runs with its owner's privileges.
create or replace function switchyard.sees_all() returns boolean
language sql stable as $$
  select has_table_privilege(coalesce(nullif(current_setting('role'), 'none'), session_user::text), 'switchyard.action', 'select')
$$;
comment on function switchyard.sees_all is 'Whether the caller may read all actions; else it sees what it submitted.';

create or replace function switchyard.add_token(name text, hash bytea, role text, expires_at timestamptz, actor text) returns void
language plpgsql security definer set search_path = switchyard, pg_temp as $$
begin
  insert into switchyard.token (name, hash, role, expires_at, created_by)
  values (add_token.name, add_token.hash, add_token.role, add_token.expires_at, switchyard.named('actor', actor));
  insert into switchyard.journal (kind, subject, actor, reason) values ('token', add_token.name, actor, format('token with role %s added', role));
end
$$;
comment on function switchyard.add_token is 'Stores the hash of a token of the HTTP API.';

create or replace function switchyard.revoke_token(name text, actor text, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
begin
  perform switchyard.named('actor', actor), switchyard.named('reason', reason);
  update switchyard.token t set revoked_at = now() where t.name = revoke_token.name and t.revoked_at is null;
  if not found then
    return false;
  end if;
  insert into switchyard.journal (kind, subject, actor, reason) values ('token', revoke_token.name, actor, 'token revoked: ' || reason);
  return true;
end
$$;
comment on function switchyard.revoke_token is 'Ends a token; false where there is none that is valid.';

-- The last use to the minute, so that a busy token is not a hot row; a standby records none.
create or replace function switchyard.use_token(hash bytea) returns table (name text, role text)
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  t switchyard.token;
begin
  select * into t from switchyard.token x
  where x.hash = use_token.hash and x.revoked_at is null and (x.expires_at is null or x.expires_at > now());
  if not found then
    return;
  end if;
  if current_setting('transaction_read_only') = 'off' and coalesce(t.last_used_at < now() - interval '1 minute', true) then
    update switchyard.token x set last_used_at = now()
    where x.name in (select y.name from switchyard.token y where y.name = t.name for update skip locked);
  end if;
  return query select t.name, t.role;
end
$$;
comment on function switchyard.use_token is 'Name and role of the valid token with that hash.';
