-- Causes of failures: the cause is the error without the parts that differ between actions. It is stored with
-- the thread when a run ends without success, so that a hundred thousand failures are shown as a few causes.

-- Only the first thousand characters are read, by expressions without back references, so no error takes long. The first
-- line says what happened; of a Python traceback it is the last. A status or an exit code remains: it is the cause itself.
create or replace function switchyard.cause_of(error text) returns text
language plpgsql immutable parallel safe as $$
declare
  line text := substring(case
    when starts_with(error, 'Traceback') then substring(right(rtrim(error, E' \n\r\t'), 1000) from '[^\n]*$')
    else left(ltrim(error, E' \n\r\t'), 1000) end from '[^\n\r]*');
  code text := substring(line from '\m(?:answered|[Ss]tatus|[Cc]ode|HTTP)[ :=]([0-9]{1,3})\M');
begin
  -- addresses, and what is quoted; an apostrophe within a word quotes nothing
  line := regexp_replace(line, '[A-Za-z][A-Za-z0-9+.-]*://[^\s"''`<>]*', '*', 'g');
  line := regexp_replace(line, '"[^"]*"|`[^`]*`|(?<!\w)''[^'']*''(?!\w)', '*', 'g');
  -- whatever has a digit: numbers, times, ids, IP addresses, paths with an id in them
  line := regexp_replace(line, '[\w.:@/+-]*[0-9][\w.@/+-]*(:[\w.@/+-]+)*', '#', 'g');
  if code is not null then
    line := regexp_replace(line, '\m(answered|[Ss]tatus|[Cc]ode|HTTP)([ :=])#', '\1\2' || code);
  end if;
  -- host and file names, in lower case: Module.ClassName is neither
  line := regexp_replace(line, '\m[a-z_-]+(\.[a-z_-]+)+(?![\w.])', '*', 'g');
  -- one sign for all of it, and for lists of any length
  line := regexp_replace(line, '[#*]([ ,;:]*[#*])*', '*', 'g');
  return coalesce(nullif(left(btrim(regexp_replace(line, '\s\s+', ' ', 'g')), 200), ''), 'no error text');
end
$$;
comment on function switchyard.cause_of is 'The signature of an error: without numbers, ids, hosts and quoted texts, at most 200 characters.';

-- Grouped by name first: few rows are left for the second grouping. The example is one lookup for each cause.
create or replace view switchyard.cause as
select c.cause, c.count, c.action_names, c.first_at, c.last_at, c.last_hour, c.hour_before,
  case when c.first_at > now() - interval '1 hour' then 'new'
    when c.last_hour = 0 then 'quiet'
    when c.last_hour > 1.2 * c.hour_before then 'growing'
    when c.last_hour < 0.8 * c.hour_before then 'shrinking'
    else 'steady' end as trend,
  e.action_uuid as example, e.error
from (
  select n.cause, sum(n.count)::bigint as count, array_agg(n.action_name order by n.action_name) as action_names,
    min(n.first_at) as first_at, max(n.last_at) as last_at,
    sum(n.last_hour)::bigint as last_hour, sum(n.hour_before)::bigint as hour_before
  from (
    select t.cause, t.action_name, count(*) as count, min(t.ended_at) as first_at, max(t.ended_at) as last_at,
      count(*) filter (where t.ended_at > now() - interval '1 hour') as last_hour,
      count(*) filter (where t.ended_at > now() - interval '2 hours' and t.ended_at <= now() - interval '1 hour') as hour_before
    from switchyard.thread t where t.needs_review group by t.cause, t.action_name) as n
  group by n.cause) as c
cross join lateral (
  select t.action_uuid, t.error from switchyard.thread t
  where t.needs_review and t.cause = c.cause order by t.action_uuid desc limit 1) as e;
comment on view switchyard.cause is 'The failed actions of the inbox by cause: how many, since when, whether there are more of them, and the youngest.';
