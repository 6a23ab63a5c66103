-- start: start a campaign, or find it again
select switchyard.start_campaign(%(name)s, %(source)s, %(in_flight)s::integer, action_name => %(action_name)s, workflow => %(workflow)s,
  parameters => %(parameters)s, priority => %(priority)s::integer, lane => %(lane)s, policy => %(policy)s, callbacks => %(callbacks)s) as action_uuid;

-- position: how far the source of a campaign was read
select c.cursor, c.complete, c.items, c.repeated, c.rejected, t.status::text, t.ended_at is not null as ended
from switchyard.campaign c join switchyard.thread t using (action_uuid) where c.action_uuid = %(campaign)s;

-- feed: store a page and move the cursor
select switchyard.feed(%(campaign)s, %(expected)s, %(items)s, %(next)s, %(last)s) as added;

-- report_source: record why the source cannot be read further
select switchyard.report_source(%(campaign)s, %(error)s);

-- all: every campaign, the newest first
select * from switchyard.campaigns order by created_at desc;

-- one: a campaign by its name
select * from switchyard.campaigns where name = %(name)s;

-- pause: submit no more items
select switchyard.pause_campaign(%(name)s, %(actor)s, %(reason)s) as changed;

-- resume: submit items again
select switchyard.resume_campaign(%(name)s, %(actor)s, %(reason)s) as changed;

-- cancel: end a campaign; conductors cancel its open members
select switchyard.cancel(c.action_uuid, %(actor)s, %(reason)s) as changed from switchyard.campaign c where c.name = %(name)s;

-- retrigger: some of its failures up to a moment
select switchyard.retrigger_campaign(%(name)s, %(most)s, %(actor)s, %(reason)s, %(before)s, %(cause)s) as retriggered;

-- now: the database's clock
select now() as now;

-- failures: members that ended without success, by cause
select t.cause, count(*) as failures, min(t.action_uuid::text)::uuid as example
from switchyard.campaign c join switchyard.action a on a.member_of = c.action_uuid join switchyard.thread t on t.action_uuid = a.action_uuid
where c.name = %(name)s and t.status > 'SUCCESSFUL' group by t.cause order by 2 desc limit 10;

-- failed_with: how many members ended without success for that cause
select count(*) as failures
from switchyard.campaign c join switchyard.action a on a.member_of = c.action_uuid join switchyard.thread t on t.action_uuid = a.action_uuid
where c.name = %(name)s and t.status > 'SUCCESSFUL' and t.cause = %(cause)s;

-- missing: of these ids of the source, those that the campaign does not have or that did not succeed
select s.id, case when i.id is null then 'missing' when i.action_uuid is null then 'waiting' else coalesce(t.status::text, 'dropped') end as state,
  i.action_uuid
from switchyard.campaign c cross join unnest(%(ids)s::text[]) as s (id)
left join switchyard.campaign_item i on i.set_uuid = c.action_uuid and i.id = s.id
left join switchyard.thread t on t.action_uuid = i.action_uuid
where c.name = %(name)s and t.status is distinct from 'SUCCESSFUL';

-- rows: the rows of somebody's query after an id
select q.id::text as id, to_jsonb(q)::text as body from ({query}) as q where q.id::text collate "C" > %(after)s order by q.id::text collate "C" limit %(limit)s;
