-- status: the current state of one action
select a.action_uuid, a.action_name, a.workflow, a.parent_uuid, a.priority, a.correlation_id, a.lane, a.tags, a.created_at,
  cast(t.status as text) as status, t.run, t.attempt, t.next_attempt_after, t.started_at, t.ended_at, t.last_update,
  t.error, t.note, t.needs_review, t.callbacks_due, switchyard.reused(t.action_uuid, t.run) as reused
from switchyard.action a join switchyard.thread t using (action_uuid)
where a.action_uuid = cast(%(uuid)s as uuid) and t.action_uuid = cast(%(uuid)s as uuid);

-- events: the state changes of one action, oldest first
select event_id, event_time, cast(status as text) as status, run, attempt, source, error, retry_seconds, detail, ignored
from switchyard.event where action_uuid = cast(%(uuid)s as uuid) order by event_time, event_id;

-- why: one sentence about why an action has not ended
select switchyard.why(cast(%(uuid)s as uuid)) as why;

-- cancel: cancels an action that has not ended
select switchyard.cancel(cast(%(uuid)s as uuid), %(actor)s, %(reason)s) as canceled;

-- retrigger: opens the next run of an action that ended without success
select switchyard.retrigger(cast(%(uuid)s as uuid), %(actor)s, %(reason)s, %(resume_from)s) as run;
