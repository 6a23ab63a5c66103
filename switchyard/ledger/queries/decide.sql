-- retrigger: opens the next run
select switchyard.retrigger(%(uuid)s, %(actor)s, %(reason)s);

-- cancel: ends what has not ended
select switchyard.cancel(%(uuid)s, %(actor)s, %(reason)s);

-- pause: holds an action name back
select switchyard.pause(%(name)s, %(actor)s, %(reason)s);

-- resume: lets it go on
select switchyard.resume(%(name)s, %(actor)s, %(reason)s);

-- dismiss: takes a journal entry out of the inbox
select switchyard.dismiss(%(entry)s, %(actor)s, %(reason)s);

-- interval: how much time the next partitions cover
update switchyard.partitioning set partition_interval = %(interval)s where partition_interval <> %(interval)s;

-- ensure: makes partitions ahead
select suffix, starts_at, ends_at from switchyard.ensure_partitions(%(days)s);

-- drop: drops what retention allows
select suffix, dropped, reason from switchyard.drop_partitions(now() - make_interval(secs => %(seconds)s));
