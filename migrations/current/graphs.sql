-- Graphs: several actions in one call, with names instead of ids. The graph is a set (sets.sql) and its nodes are the members,
-- so it has one end, callbacks, progress and a retrigger, like any action.

create or replace function switchyard.graph_error(message text, variadic parts text[]) returns void
language plpgsql as $$
begin
  raise exception '%', format(message, variadic parts) using errcode = 'invalid_parameter_value';
end
$$;
comment on function switchyard.graph_error is 'Refuses a graph, with the reason.';

create or replace function switchyard.check_node(name text, node jsonb) returns void
language plpgsql as $$
declare
  wrong text;
begin
  if jsonb_typeof(node) <> 'object' or length(name) not between 1 and 200 then
    perform switchyard.graph_error('nodes.%s: must be an object, under a name of 1 to 200 characters', left(name, 200));
  end if;
  select k into wrong from jsonb_object_keys(node) as k
  where k not in ('workflow', 'action_name', 'parameters', 'after', 'policy', 'inputs', 'priority', 'lane', 'tags', 'callbacks') limit 1;
  if found then
    perform switchyard.graph_error('nodes.%s: there is no field %s', name, wrong);
  end if;
  if jsonb_typeof(coalesce(node -> 'after', '[]')) <> 'array' or jsonb_path_exists(node, '$.after[*] ? (@.type() != "string")') then
    perform switchyard.graph_error('nodes.%s.after: must be a list of names', name);
  elsif jsonb_typeof(coalesce(node -> 'inputs', '{}')) <> 'object' then
    perform switchyard.graph_error('nodes.%s.inputs: must be an object', name);
  elsif node -> 'parameters' ? '$inputs' then
    perform switchyard.graph_error('nodes.%s.parameters: $inputs is reserved', name);
  elsif coalesce(node -> 'inputs', '{}') <> '{}' and node ->> 'workflow' is null and node ->> 'action_name' is distinct from 'graph' then
    perform switchyard.graph_error('nodes.%s.inputs: only a node with a workflow takes inputs', name);
  elsif coalesce(node ->> 'policy', 'ended') not in ('successful', 'ended') then
    perform switchyard.graph_error('nodes.%s.policy: must be successful or ended', name);
  end if;
  select i.key into wrong from jsonb_each(coalesce(node -> 'inputs', '{}')) as i
  where jsonb_typeof(i.value) <> 'object' or not i.value ?& array['from', 'path'] or i.value - array['from', 'path', 'default'] <> '{}'
    or coalesce(i.value ->> 'path', '') not like '$%' limit 1;
  if found then
    perform switchyard.graph_error('nodes.%s.inputs.%s: must have from (a node), path (like $.output.scene) and perhaps default', name, wrong);
  end if;
end
$$;
comment on function switchyard.check_node is 'Refuses a node that is not well-formed.';

create or replace function switchyard.graph_edges(nodes jsonb) returns table (waiter text, dependency text)
language sql immutable as $$
  select n.key, d from jsonb_each(nodes) as n, jsonb_array_elements_text(coalesce(n.value -> 'after', '[]')) as d
  union
  select n.key, i.value ->> 'from' from jsonb_each(nodes) as n, jsonb_each(coalesce(n.value -> 'inputs', '{}')) as i
$$;
comment on function switchyard.graph_edges is 'Which node waits for which: an input of another is an edge too.';

-- Kahn's algorithm on numbers: processing one layer at a time with NOT EXISTS took 29 s for a chain of 1,000. Edges are sorted by the
-- node that is waited for; first_edge is the index of the first edge of a node.
create or replace function switchyard.graph_order(names text[], waiters integer[], dependencies integer[], first_edge integer[]) returns text[]
language plpgsql immutable as $$
declare
  open integer[] := array_fill(0, array[cardinality(names)]);
  ready integer[];
  at integer := 1;
  e integer;
begin
  foreach e in array waiters loop
    open[e] := open[e] + 1;
  end loop;
  ready := array(select s from generate_subscripts(open, 1) as s where open[s] = 0);
  while at <= cardinality(ready) loop
    e := first_edge[ready[at]];
    while dependencies[e] = ready[at] loop
      open[waiters[e]] := open[waiters[e]] - 1;
      if open[waiters[e]] = 0 then
        ready := ready || waiters[e];
      end if;
      e := e + 1;
    end loop;
    at := at + 1;
  end loop;
  if cardinality(ready) < cardinality(names) then
    perform switchyard.graph_error('nodes: these wait for each other, or for some that do: %s', (
      select string_agg(names[s], ', ' order by names[s]) from generate_subscripts(open, 1) as s where open[s] > 0));
  end if;
  return array(select names[r] from unnest(ready) with ordinality as x (r, place) order by place);
end
$$;
comment on function switchyard.graph_order is 'The names so that each comes after those it waits for; an error where there is a cycle.';

create or replace function switchyard.checked_graph(nodes jsonb) returns text[]
language plpgsql as $$
declare
  names text[];
  wrong record;
  edges record;
begin
  if jsonb_typeof(nodes) is distinct from 'object' or (select count(*) from jsonb_object_keys(nodes)) not between 1 and 1000 then
    perform switchyard.graph_error('nodes: must be an object of 1 to 1000 nodes');
  end if;
  perform switchyard.check_node(n.key, n.value) from jsonb_each(nodes) as n;
  select e.* into wrong from switchyard.graph_edges(nodes) as e where e.dependency is null or not nodes ? e.dependency limit 1;
  if found then
    perform switchyard.graph_error('nodes.%s: there is no node %s to wait for', wrong.waiter, coalesce(wrong.dependency, '(none)'));
  end if;
  select n.key as waiter, i.value ->> 'from' as dependency into wrong from jsonb_each(nodes) as n, jsonb_each(coalesce(n.value -> 'inputs', '{}')) as i
  where nodes -> (i.value ->> 'from') ->> 'workflow' is null limit 1;
  if found then
    perform switchyard.graph_error('nodes.%s: node %s has no workflow, and so no output', wrong.waiter, wrong.dependency);
  elsif (select count(*) from switchyard.graph_edges(nodes)) > 10000 then
    perform switchyard.graph_error('nodes: at most 10000 pairs of nodes may wait for each other');
  end if;
  names := array(select k from jsonb_object_keys(nodes) as k order by k collate "C");
  with place as (select n, p::integer from unnest(names) with ordinality as x (n, p)),
  edge as (
    select w.p as waiter, d.p as dependency, row_number() over (order by d.p, w.p)::integer as at
    from switchyard.graph_edges(nodes) as e join place w on w.n = e.waiter join place d on d.n = e.dependency)
  select array_agg(e.waiter order by e.at) as waiters, array_agg(e.dependency order by e.at) as dependencies, (
    select array_agg((select min(x.at) from edge x where x.dependency = p.p) order by p.p) from place p) as first_edge
  into edges from edge e;
  return switchyard.graph_order(names, coalesce(edges.waiters, '{}'), coalesce(edges.dependencies, '{}'), edges.first_edge);
end
$$;
comment on function switchyard.checked_graph is 'The names of the nodes in an order in which they may be made; an error where the graph is not well-formed.';

-- Ids are in the order of the graph: of the actions in one INSERT, each may only wait for smaller ids.
create or replace function switchyard.add_nodes(p_set uuid, graph jsonb, names text[], p_submitted_by text) returns void
language plpgsql as $$
declare
  begins timestamptz := clock_timestamp();
  ids jsonb := (
    select jsonb_object_agg(n, switchyard.uuid7(begins + place * interval '1 us')) from unnest(names) with ordinality as x (n, place));
begin
  insert into switchyard.action (action_uuid, action_name, action_type, workflow, parameters, priority, lane, tags, callbacks, correlation_id,
    after, after_policy, inputs, member_of, node, submitted_by)
  select (ids ->> n.key)::uuid, switchyard.action_name_for(n.value ->> 'workflow', n.value ->> 'action_name'),
    case when n.value ->> 'workflow' is null then 'callback' else 'workflow' end, n.value ->> 'workflow',
    coalesce(n.value -> 'parameters', '{}'), coalesce(n.value ->> 'priority', graph ->> 'priority', '100')::smallint,
    coalesce(n.value ->> 'lane', graph ->> 'lane'), switchyard.tags_in(n.value), nullif(n.value -> 'callbacks', 'null'),
    graph ->> 'correlation_id', a.after, case when a.after is not null then n.value ->> 'policy' end,
    (select jsonb_object_agg(i.key, i.value || jsonb_build_object('from', ids -> (i.value ->> 'from')))
     from jsonb_each(n.value -> 'inputs') as i), p_set, n.key, p_submitted_by
  from jsonb_each(graph -> 'nodes') as n left join (
    select e.waiter, array_agg((ids ->> e.dependency)::uuid order by ids ->> e.dependency) as after
    from switchyard.graph_edges(graph -> 'nodes') as e group by e.waiter) as a on a.waiter = n.key
  order by ids ->> n.key;
end
$$;
comment on function switchyard.add_nodes is 'Makes the nodes of a graph members of that set.';

create or replace function switchyard.submit_graph(graph jsonb) returns table (name text, action_uuid uuid)
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  names text[];
  whole switchyard.action;
  wrong text;
begin
  select k into wrong from jsonb_object_keys(graph) as k
  where k not in ('key', 'nodes', 'callbacks', 'correlation_id', 'lane', 'priority', 'tags') limit 1;
  if found then
    perform switchyard.graph_error('graph: there is no field %s', wrong);
  end if;
  names := switchyard.checked_graph(graph -> 'nodes');
  whole.action_name := 'graph';
  whole.parameters := jsonb_build_object('nodes', cardinality(names), 'sha256', encode(sha256(convert_to((graph - 'correlation_id')::text, 'UTF8')), 'hex'));
  whole.idempotency_key := graph ->> 'key';
  whole.callbacks := nullif(graph -> 'callbacks', 'null');
  whole.correlation_id := graph ->> 'correlation_id';
  whole.lane := graph ->> 'lane';
  whole.tags := switchyard.tags_in(graph);
  whole.action_uuid := switchyard.make_set(whole);
  perform from switchyard.sets s where s.action_uuid = whole.action_uuid and s.sealed;
  if not found then -- else this very graph was submitted before
    perform switchyard.add_nodes(whole.action_uuid, graph, names, switchyard.caller());
    perform switchyard.seal_set(whole.action_uuid);
  end if;
  return query
  select null, whole.action_uuid
  union all (select a.node, a.action_uuid from switchyard.action a where a.member_of = whole.action_uuid order by a.action_uuid);
end
$$;
comment on function switchyard.submit_graph is 'Asks for several actions that wait for each other; the ids of the graph (without a name) and of its nodes.';

-- A workflow with steps is claimed like any action; the conductor that claimed it creates its steps here, in one transaction. If this is called
-- again (after a crash, or by two conductors at once), the set exists already, or its run has ended.
create or replace function switchyard.open_graph(p_uuid uuid, p_run integer, p_attempt integer, graph jsonb) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  names text[] := switchyard.checked_graph(graph -> 'nodes');
  whole switchyard.action;
begin
  perform from switchyard.thread t where t.action_uuid = p_uuid and t.run = p_run and t.status < 'SUCCESSFUL' for update;
  if not found or exists (select from switchyard.sets s where s.action_uuid = p_uuid) then
    return false;
  end if;
  select * into strict whole from switchyard.action a where a.action_uuid = p_uuid and a.action_name = 'graph';
  insert into switchyard.sets (action_uuid) values (p_uuid);
  perform switchyard.open_set(p_uuid, p_run, p_attempt);
  perform switchyard.add_nodes(p_uuid, graph || jsonb_strip_nulls(jsonb_build_object('correlation_id', whole.correlation_id,
    'lane', whole.lane, 'priority', whole.priority)), names, whole.submitted_by);
  perform switchyard.seal_set(p_uuid);
  return true;
end
$$;
comment on function switchyard.open_graph is 'Makes the steps of a workflow members of its action; false where they are, or its run is over.';
