-- Campaigns: a set (sets.sql) whose members are created from the items of a source, a limited number at a time.
--
-- Stored     The reader of the source, with no transaction open, calls feed(campaign, expected cursor, items, next cursor, last): compare
--            the cursor, store the items whose id is new, move the cursor; one transaction under the campaign's row lock. If it is killed before,
--            it reads that page again; if killed after, the cursor has moved. Of two concurrent readers, the second finds a different cursor.
-- Submitted  Conductors call submit_items: as many items as the limit allows become members, in the transaction that records this with the item.
-- Ended      With the last item the set is sealed, and ends like every set.

create or replace function switchyard.locked_campaign(name text) returns switchyard.campaign
language plpgsql as $$
declare
  c switchyard.campaign;
begin
  select * into c from switchyard.campaign x where x.name = locked_campaign.name for update;
  if not found then
    raise exception 'campaign: there is no campaign %', name using errcode = 'no_data_found';
  end if;
  return c;
end
$$;
comment on function switchyard.locked_campaign is 'The campaign under its row lock; an error where there is none.';

-- Called again with the same definition it returns the same campaign, so that reading its source can be continued.
create or replace function switchyard.start_campaign(
  name text, source jsonb, in_flight integer, action_name text default null, workflow text default null, parameters jsonb default '{}',
  priority integer default 200, lane text default null, policy text default 'successful', callbacks jsonb default null
) returns uuid language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  c switchyard.campaign;
  whole switchyard.action;
  run_by text := switchyard.action_name_for(workflow, action_name);
begin
  select * into c from switchyard.campaign x where x.name = start_campaign.name;
  if found then
    if (c.source, c.action_name, c.workflow, c.parameters) is distinct from (source, run_by, start_campaign.workflow, start_campaign.parameters) then
      raise exception 'campaign: there is a campaign % already, with another source, workflow or parameters', name using errcode = 'unique_violation';
    end if;
    return c.action_uuid;
  end if;
  whole.action_name := 'campaign';
  whole.parameters := jsonb_build_object('campaign', name, 'source', source);
  whole.priority := priority;
  whole.lane := lane;
  whole.callbacks := callbacks;
  c.action_uuid := switchyard.make_set(whole, policy);
  insert into switchyard.campaign (action_uuid, name, action_name, workflow, source, parameters, in_flight, priority, lane, started_by)
  values (c.action_uuid, start_campaign.name, run_by, start_campaign.workflow, start_campaign.source, start_campaign.parameters, start_campaign.in_flight,
    start_campaign.priority, start_campaign.lane, switchyard.caller());
  perform switchyard.wake_settlers();
  return c.action_uuid;
end
$$;
comment on function switchyard.start_campaign is 'Starts a campaign, and returns its id; where it was started already with the same definition, the id that it has.';

create or replace function switchyard.campaign_stops(c switchyard.campaign, reason text) returns void
language plpgsql as $$
begin
  update switchyard.campaign x set source_error = reason where x.action_uuid = c.action_uuid and x.source_error is distinct from reason;
  insert into switchyard.journal (kind, subject, actor, reason, needs_review)
  select 'campaign', c.name, switchyard.caller(), campaign_stops.reason, true
  where not exists (select from switchyard.journal j where j.kind = 'campaign' and j.subject = c.name and j.needs_review);
end
$$;
comment on function switchyard.campaign_stops is 'Puts a campaign whose source cannot be read further into the inbox, once.';

create or replace function switchyard.is_item(body jsonb) returns boolean
language sql immutable parallel safe as $$
  select coalesce(length(body ->> 'id') between 1 and 500 and jsonb_typeof(body -> 'parameters') = 'object'
    and switchyard.is_within_limits(body -> 'parameters'), false)
$$;
comment on function switchyard.is_item is 'Whether it has an id, and parameters that an action may have.';

-- The first item with an id counts, later ones are ignored. A source that returns the same page endlessly is bounded here.
create or replace function switchyard.feed(campaign uuid, expected jsonb, items jsonb, next jsonb, last boolean) returns integer
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  c switchyard.campaign;
  added integer;
  good integer;
begin
  if jsonb_typeof(items) <> 'array' or jsonb_array_length(items) > 10000 then
    raise exception 'items: must be a list of at most 10000' using errcode = 'invalid_parameter_value';
  end if;
  select * into c from switchyard.campaign x where x.action_uuid = campaign for update;
  if c.cursor is distinct from expected or c.complete or not exists (select from switchyard.yard y where y.action_uuid = campaign) then
    return null; -- somebody else read these, or it is over: read the cursor again
  elsif c.fruitless >= 100 then
    raise exception 'campaign: its source gave % pages in a row with nothing new', c.fruitless using errcode = 'object_not_in_prerequisite_state';
  end if;
  with item as (
    select distinct on (i.body ->> 'id') i.body ->> 'id' as id, i.body -> 'parameters' as parameters, i.place
    from jsonb_array_elements(items) with ordinality as i (body, place)
    where switchyard.is_item(i.body)
    order by i.body ->> 'id', i.place)
  insert into switchyard.campaign_item (set_uuid, id, place, parameters)
  select campaign, i.id, c.items + c.repeated + c.rejected + i.place, i.parameters from item i order by i.id
  on conflict do nothing;
  get diagnostics added = row_count;
  select count(*) into good from jsonb_array_elements(items) as i where switchyard.is_item(i);
  update switchyard.campaign x set cursor = next, complete = last, items = x.items + added, repeated = x.repeated + good - added,
    rejected = x.rejected + jsonb_array_length(feed.items) - good, source_error = null,
    fruitless = case when added > 0 then 0 else x.fruitless + 1 end
  where x.action_uuid = campaign returning x.* into c;
  if c.fruitless >= 100 and not last then
    perform switchyard.campaign_stops(c, format('the source gave %s pages in a row with nothing new: it seems to repeat itself', c.fruitless));
  end if;
  if last and c.rejected > 0 then
    perform switchyard.campaign_stops(c, format('%s items of the source have no id, or are not objects: they were left out', c.rejected));
  end if;
  perform switchyard.wake_settlers();
  return added;
end
$$;
comment on function switchyard.feed is 'Stores items {id, parameters} of a campaign and moves its cursor; how many are new, or null where somebody else was first.';

create or replace function switchyard.report_source(campaign uuid, error text) returns void
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  c switchyard.campaign;
begin
  select * into c from switchyard.campaign x where x.action_uuid = campaign and not x.complete for update;
  if found then
    perform switchyard.campaign_stops(c, left(error, 1000));
  end if;
end
$$;
comment on function switchyard.report_source is 'Records why the source of a campaign could not be read further.';

-- The middle item of a large batch is marked: its end notifies, so that more are submitted before all have ended.
create or replace function switchyard.submit_some(c switchyard.campaign, room integer, only_id text) returns integer
language plpgsql as $$
declare
  taken uuid[];
begin
  with next as (
    select i.set_uuid, i.id, i.parameters, i.place, switchyard.uuid7() as action_uuid from switchyard.campaign_item i
    where i.set_uuid = c.action_uuid and i.action_uuid is null and (only_id is null or i.id = only_id)
    order by i.place limit room for update skip locked
  ), noted as (
    update switchyard.campaign_item i set action_uuid = n.action_uuid, parameters = null
    from next n where (i.set_uuid, i.id) = (n.set_uuid, n.id) -- not the set by c: it would be read whole for each item
  ), made as (
    insert into switchyard.action (action_uuid, action_name, action_type, workflow, parameters, priority, lane, member_of, correlation_id, submitted_by)
    select n.action_uuid, c.action_name, case when c.workflow is null then 'callback' else 'workflow' end, c.workflow, c.parameters || n.parameters,
      c.priority, c.lane, c.action_uuid, left(format('campaign %s %s', c.name, n.id), 500), c.started_by
    from next n order by n.place
    returning action_uuid)
  select array_agg(m.action_uuid order by m.action_uuid) into taken from made m;
  if cardinality(taken) >= greatest(c.in_flight / 4, 2) then
    update switchyard.yard y set watched = true where y.action_uuid = taken[cardinality(taken) / 2] and y.watched is null;
  end if;
  return coalesce(cardinality(taken), 0);
end
$$;
comment on function switchyard.submit_some is 'Makes members of up to that number of items of a campaign, or of one item; how many there were.';

-- An item that cannot be submitted is moved behind all others, and tried again when its turn comes.
create or replace function switchyard.submit_singly(c switchyard.campaign, room integer) returns integer
language plpgsql as $$
declare
  behind constant bigint := 4611686018427387904;
  item text;
  submitted integer := 0;
begin
  for item in
    select i.id from switchyard.campaign_item i where i.set_uuid = c.action_uuid and i.action_uuid is null order by i.place limit room
  loop
    begin
      submitted := submitted + switchyard.submit_some(c, 1, item);
    exception when others then
      perform switchyard.campaign_stops(c, format('item %s could not be submitted: %s', left(item, 100), sqlerrm));
      update switchyard.campaign_item i set place = i.place + behind where i.set_uuid = c.action_uuid and i.id = item and i.place < behind;
    end;
  end loop;
  if submitted = 0 then
    update switchyard.campaign x set not_before = switchyard.looked_at_again('') where x.action_uuid = c.action_uuid;
  end if;
  return submitted;
end
$$;
comment on function switchyard.submit_singly is 'The same, each item by itself, after all of them together could not be submitted.';

create or replace function switchyard.submit_next(c switchyard.campaign, p_limit integer, singly boolean) returns integer
language plpgsql as $$
declare
  room integer := least(c.in_flight - (select t.open from switchyard.tally_of(c.action_uuid) as t), p_limit);
  submitted integer := 0;
begin
  if room > 0 then
    submitted := case when singly then switchyard.submit_singly(c, room) else switchyard.submit_some(c, room, null) end;
  end if;
  if submitted > 0 then
    perform switchyard.fold_tally(c.action_uuid);
  elsif c.complete and not exists (select from switchyard.campaign_item i where i.set_uuid = c.action_uuid and i.action_uuid is null) then
    perform switchyard.seal_set(c.action_uuid);
  end if;
  return submitted;
end
$$;
comment on function switchyard.submit_next is 'Submits as many items of one campaign as there is room for, or seals it; how many.';

-- An error of one campaign is rolled back alone, and the campaign is set aside, as in settle_waiting.
-- Plans are pinned: a session makes them when it has no items yet, and keeps them when there are a million.
create or replace function switchyard.submit_items(p_limit integer default 500, out settled integer, out busy integer)
language plpgsql security definer set search_path = switchyard, pg_temp set plan_cache_mode = force_generic_plan
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  c switchyard.campaign;
  singly boolean;
begin
  settled := 0;
  busy := 0;
  for c in
    select x.* from switchyard.campaign x join switchyard.sets s using (action_uuid)
    where not s.sealed and not s.settled and x.paused_at is null and x.not_before <= now()
      and exists (select from switchyard.yard y where y.action_uuid = x.action_uuid)
    for update skip locked
  loop
    singly := false;
    loop
      begin
        -- Only a full batch is followed by the next at once: else each end would make one.
        settled := settled + (switchyard.submit_next(c, p_limit, singly) = p_limit)::integer;
        exit;
      exception when query_canceled or others then
        if singly or sqlstate = '57014' then
          perform switchyard.campaign_stops(c, 'its next items could not be submitted: ' || sqlerrm);
          update switchyard.campaign x set not_before = switchyard.looked_at_again(sqlstate) where x.action_uuid = c.action_uuid;
          if sqlstate = '57014' then
            return;
          end if;
          exit;
        end if;
        singly := true;
      end;
    end loop;
  end loop;
end
$$;
comment on function switchyard.submit_items is 'Submits the next items of every campaign that has room; settled: how many may have room for more.';

create or replace function switchyard.pause_campaign(name text, actor text, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  c switchyard.campaign := switchyard.locked_campaign(name);
begin
  perform switchyard.named('actor', actor), switchyard.named('reason', reason);
  if c.paused_at is not null then
    return false;
  end if;
  update switchyard.campaign x set paused_at = now(), paused_by = actor, paused_because = reason where x.action_uuid = c.action_uuid;
  insert into switchyard.journal (kind, subject, actor, reason) values ('pause_campaign', c.name, pause_campaign.actor, pause_campaign.reason);
  return true;
end
$$;
comment on function switchyard.pause_campaign is 'The campaign submits no more items; what is open goes on. False where it was paused already.';

create or replace function switchyard.resume_campaign(name text, actor text, reason text) returns boolean
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  c switchyard.campaign := switchyard.locked_campaign(name);
begin
  perform switchyard.named('actor', actor), switchyard.named('reason', reason);
  if c.paused_at is null then
    return false;
  end if;
  update switchyard.campaign x set paused_at = null, paused_by = null, paused_because = null where x.action_uuid = c.action_uuid;
  insert into switchyard.journal (kind, subject, actor, reason) values ('resume_campaign', c.name, resume_campaign.actor, resume_campaign.reason);
  perform switchyard.wake_settlers();
  return true;
end
$$;
comment on function switchyard.resume_campaign is 'The campaign submits items again; false where it was not paused.';

-- Many failures are retriggered in several calls, up to those before a given time: they may fail again meanwhile. The first call reopens the campaign, even if it was canceled.
create or replace function switchyard.retrigger_campaign(
  name text, most integer, actor text, reason text, ended_before timestamptz default 'infinity', cause text default null
) returns integer
language plpgsql security definer set search_path = switchyard, pg_temp as $$
declare
  id uuid := (switchyard.locked_campaign(name)).action_uuid;
begin
  perform from switchyard.sets s where s.action_uuid = id for update;
  perform from switchyard.thread t where t.action_uuid = id and t.status > 'SUCCESSFUL';
  if found then
    perform switchyard.named('actor', actor), switchyard.named('reason', reason),
      switchyard.reopen_set(id, format('retriggered by %s: %s', actor, reason), actor, reason);
  end if;
  return switchyard.retrigger_members(id, most, actor, reason, ended_before, cause);
end
$$;
comment on function switchyard.retrigger_campaign is 'Retriggers this many of its failures (of one cause, where one is given), and opens the campaign again; returns how many there were.';
