-- forget: results are not reused any more; how many, or with dry_run how many it would be
select switchyard.forget_results(%(actor)s, %(reason)s, workflow => %(workflow)s, version => %(version)s,
  action_uuid => %(action)s::uuid, before => %(before)s::timestamptz, dry_run => %(dry_run)s) as forgotten;

-- list: the results that may be reused and those that are being computed, the newest first
select r.action_uuid, r.workflow, r.version, r.lane, r.found, r.status, r.ended_at, r.fresh_until, r.waiting
from switchyard.results r where %(workflow)s::text is null or r.workflow = %(workflow)s
order by r.action_uuid desc limit %(limit)s;
