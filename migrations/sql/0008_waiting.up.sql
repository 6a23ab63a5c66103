-- Actions that wait for others (action.after): who is held, and which open action each watches.
create table switchyard.waiting (
  action_uuid uuid primary key,
  after uuid[] not null,
  policy text not null,
  watching uuid,
  taken jsonb not null default '{}',
  not_before timestamptz not null default '-infinity',
  -- Here and not on action, whose other rows would pay for them.
  constraint waiting_after_is_a_short_list check (cardinality(after) between 1 and 1000 and array_position(after, null) is null),
  constraint waiting_policy_is_known check (policy in ('successful', 'ended'))
);
comment on table switchyard.waiting is 'The actions that are held because they wait for others; written by the triggers and settle_waiting.';
comment on column switchyard.waiting.watching is 'The one of after whose row in the yard was marked for this action; null before the first look.';
comment on column switchyard.waiting.not_before is 'When it is looked at again, after something kept it from being settled.';
comment on column switchyard.waiting.taken is 'Run and status of those of after that retention has dropped.';
-- Without it each look would walk all that watch something already.
create index waiting_unwatched on switchyard.waiting (action_uuid) where watching is null;
