-- one: asks for one action and returns its id
select switchyard.submit(
  action_name => %(action_name)s, parameters => %(parameters)s::jsonb, workflow => %(workflow)s,
  priority => %(priority)s::integer, correlation_id => %(correlation_id)s, idempotency_key => %(idempotency_key)s,
  start_after => %(start_after)s, parent_uuid => %(parent_uuid)s, callbacks => %(callbacks)s::jsonb);

-- many: asks for a JSON list of actions, some with idempotency keys, and returns their ids in its order
select action_uuid from switchyard.submit_many(%(requests)s::jsonb);

-- clock: the server's time, which the ids of a bulk submit are made of
select extract(epoch from clock_timestamp())::double precision;

-- routed: the action names of workflows, for rows that are copied in without asking submit
select workflow, action_name from switchyard.route where workflow = any(%(workflows)s);

-- copy: takes many actions that need no idempotency key in one statement
copy switchyard.action (action_uuid, action_type, action_name, workflow, parent_uuid, priority, parameters,
  callbacks, correlation_id, start_after) from stdin;
