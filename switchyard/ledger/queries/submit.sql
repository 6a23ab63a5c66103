-- one: submits one action and returns its id; written with cast(), because SQLAlchemy misreads a parameter before ::
select switchyard.submit(
  action_name => %(action_name)s, parameters => cast(%(parameters)s as jsonb), workflow => %(workflow)s,
  priority => cast(%(priority)s as integer), correlation_id => %(correlation_id)s, idempotency_key => %(idempotency_key)s,
  start_after => cast(%(start_after)s as timestamptz), parent_uuid => cast(%(parent_uuid)s as uuid),
  callbacks => cast(%(callbacks)s as jsonb), lane => %(lane)s, tags => cast(%(tags)s as text[]),
  after => cast(%(after)s as uuid[]), after_policy => %(after_policy)s, no_cache => %(no_cache)s) as action_uuid;

-- many: submits a JSON list of actions, some with idempotency keys, and returns their ids in its order
select action_uuid from switchyard.submit_many(cast(%(requests)s as jsonb));

-- clock: the server's time, which the ids of a bulk submit are made of
select extract(epoch from clock_timestamp())::double precision;

-- routed: the action names of workflows, for rows that are copied in without asking submit
select workflow, action_name from switchyard.route where workflow = any(%(workflows)s);

-- copy: takes many actions that need no idempotency key in one statement
copy switchyard.action (action_uuid, action_type, action_name, workflow, parent_uuid, priority, parameters,
  callbacks, correlation_id, start_after, lane, tags, after, after_policy, no_cache) from stdin;

-- open_graph: makes the steps of a workflow members of its action
select switchyard.open_graph(%(uuid)s, %(run)s, %(attempt)s, %(graph)s);

-- graph_of_node: the graph that a node belongs to, and its run
select a.member_of, t.run from switchyard.action a join switchyard.thread t on t.action_uuid = a.member_of where a.action_uuid = %(uuid)s;

-- graph: submits a whole graph; its own id first, then those of its nodes
select name, action_uuid from switchyard.submit_graph(cast(%(graph)s as jsonb));
