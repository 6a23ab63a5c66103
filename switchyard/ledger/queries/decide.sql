-- retrigger: opens the next run of each of these actions
select id as action_uuid, switchyard.retrigger(id, %(actor)s, %(reason)s, %(resume_from)s) as result from unnest(%(uuids)s::uuid[]) as id;

-- cancel: cancels each of these actions that has not ended
select id as action_uuid, switchyard.cancel(id, %(actor)s, %(reason)s) as result from unnest(%(uuids)s::uuid[]) as id;

-- call_back: makes the callbacks of each of these ended actions again
select id as action_uuid, switchyard.call_back(id, %(actor)s, %(reason)s) as result from unnest(%(uuids)s::uuid[]) as id;

-- pause: stops claims of an action name
select switchyard.pause(%(name)s, %(actor)s, %(reason)s) as changed;

-- resume: allows claims of an action name again
select switchyard.resume(%(name)s, %(actor)s, %(reason)s) as changed;

-- dismiss: takes each of these actions out of the inbox
select id as action_uuid, switchyard.dismiss_thread(id, %(actor)s, %(reason)s) as result from unnest(%(uuids)s::uuid[]) as id;

-- dismiss_entry: takes a journal entry out of the inbox
select switchyard.dismiss(%(entry)s, %(actor)s, %(reason)s) as changed;

-- drop: drops what retention allows
select suffix, dropped, reason from switchyard.drop_partitions(now() - make_interval(secs => %(seconds)s));
