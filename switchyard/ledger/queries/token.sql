-- add: stores the hash of a new token
select switchyard.add_token(%(name)s, %(hash)s, %(role)s, %(expires_at)s, %(actor)s);

-- list: all tokens, without their hashes
select name, role, created_at, created_by, expires_at, revoked_at, last_used_at from switchyard.token order by name;

-- revoke: ends a token
select switchyard.revoke_token(%(name)s, %(actor)s, %(reason)s) as changed;
