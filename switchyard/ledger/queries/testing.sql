-- lock_others: takes the locks of all other open actions of a name, for as long as the session lasts
select pg_advisory_lock(lock_id) from switchyard.thread
where action_name = %(name)s and action_uuid <> cast(%(uuid)s as uuid) and ended_at is null;

-- settle: releases or cancels what waits for actions that have ended
select settled from switchyard.settle_waiting(1000);
