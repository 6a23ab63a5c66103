drop function switchyard.unlock(bigint[]);
drop function switchyard.claim_orphans(text, integer, uuid[]);
drop function switchyard.describe(uuid[]);
drop function switchyard.claim_one(text, uuid);
drop function switchyard.claim(text, integer, uuid[]);
drop function switchyard.try_lock_unless_held(uuid, bigint, uuid[]);
