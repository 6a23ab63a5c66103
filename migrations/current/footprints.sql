-- Footprints: where the inputs of jobs are, as boxes of longitude and latitude. PostGIS is not needed for that.

-- The trigger of `action` calls it for workflows whose schema has coordinates. The depths bound how often a number is read
-- that is nested in many keys of these names. Values outside the range of degrees (other coordinate systems) are left out. A box whose west
-- is east of its east crosses the antimeridian, as GeoJSON has it: it is two boxes, one that ends at 180 degrees and one
-- that begins there.
create or replace function switchyard.footprint_of(document jsonb) returns table (part smallint, area box)
language plpgsql immutable parallel safe as $$
declare
  written text := document;
begin
  -- Large inputs are not searched: that takes time in the statement that submits.
  if octet_length(written) >= 100000 or position('"bbox"' in written) = 0 and position('"coordinates"' in written) = 0 then
    return;
  end if;
  return query
  with shape as (
    select p.x as west, p.y as south, p.x as east, p.y as north, false as crosses
    from (
      select round((c ->> 0)::numeric, 9) as x, round((c ->> 1)::numeric, 9) as y from jsonb_path_query(document,
        'strict $.**{0 to 8}.coordinates.**{0 to 3} ? (@.type() == "array" && @[0].type() == "number" && @[1].type() == "number")',
        silent => true) as c) as p
    union all
    select b.numbers[1], least(b.numbers[2], b.numbers[b.middle + 2]), b.numbers[b.middle + 1], greatest(b.numbers[2], b.numbers[b.middle + 2]),
      b.numbers[1] > b.numbers[b.middle + 1]
    from (
      select array(select round(each::text::numeric, 9) from jsonb_array_elements(given) as each) as numbers, jsonb_array_length(given) / 2 as middle
      from jsonb_path_query(document, 'strict $.**{0 to 8}.bbox ? (@.type() == "array" && (@.size() == 4 || @.size() == 6))', silent => true) as given
      where not jsonb_path_exists(given, '$[*] ? (@.type() != "number")')) as b
  ), whole as (
    select bool_or(s.crosses) as crosses, min(s.west)::float8 as west, min(s.south)::float8 as south, max(s.east)::float8 as east, max(s.north)::float8 as north,
      (min(s.west) filter (where s.crosses or s.east >= 0))::float8 as begins, (max(s.east) filter (where s.crosses or s.west < 0))::float8 as ends
    from shape s
    where s.west between -180 and 180 and s.east between -180 and 180 and s.south >= -90 and s.north <= 90
    having count(*) > 0
  )
  select 1::smallint, box(point(w.west, w.south), point(w.east, w.north)) from whole w where not w.crosses
  union all
  select 1::smallint, box(point(w.begins, w.south), point(180, w.north)) from whole w where w.crosses
  union all
  select 2::smallint, box(point(-180, w.south), point(w.ends, w.north)) from whole w where w.crosses;
end
$$;
comment on function switchyard.footprint_of is 'One box around all coordinates and bounding boxes of a document; two where it crosses the antimeridian; none where it has none.';

-- If few footprints intersect a box, they are found by the index, however old they are. If many do, only the newest are
-- searched, as many as for any other filter. Both read a bounded number of rows.
create or replace function switchyard.located(areas box[], after uuid, before uuid, most integer) returns setof uuid
language plpgsql stable security definer set search_path = switchyard, pg_temp
set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  found uuid[] := switchyard.touching(areas, after, before, most);
begin
  if found is null then
    found := array(
      select f.action_uuid from (
        select n.action_uuid, n.area from switchyard.footprint n where n.action_uuid > after and n.action_uuid < before
        order by n.action_uuid desc fetch first most rows with ties) as f
      where f.area && areas[1] or f.area && areas[2]);
  end if;
  return query
  select distinct u from unnest(found) as u
  where (select switchyard.sees_all())
    or exists (select from switchyard.action a where a.action_uuid = u and a.submitted_by = (select switchyard.caller()))
  order by u desc;
end
$$;
comment on function switchyard.located is 'Actions that the caller may see whose footprints touch one of up to two boxes, between two ids, the newest first.';

create or replace function switchyard.touching(areas box[], after uuid, before uuid, most integer) returns uuid[]
language plpgsql stable set search_path = switchyard, pg_temp
set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  found uuid[] := array(
    (select f.action_uuid from switchyard.footprint f
     where f.area && areas[1] and f.action_uuid > after and f.action_uuid < before limit most + 1)
    union all
    (select f.action_uuid from switchyard.footprint f
     where areas[2] is not null and f.area && areas[2] and f.action_uuid > after and f.action_uuid < before limit most + 1));
begin
  return case when cardinality(found) <= most then found end;
end
$$;
comment on function switchyard.touching is 'All actions whose footprints touch one of the boxes; null where there are more than that many.';

create or replace function switchyard.located_end(areas box[], after uuid, before uuid, most integer) returns uuid
language plpgsql stable security definer set search_path = switchyard, pg_temp as $$
begin
  return case when switchyard.touching(areas, after, before, most) is null then (
    select f.action_uuid from switchyard.footprint f where f.action_uuid > after and f.action_uuid < before
    order by f.action_uuid desc offset most - 1 limit 1) end;
end
$$;
comment on function switchyard.located_end is 'The oldest footprint that located looked at; null where it looked at all.';

create or replace view switchyard.visible_footprint as
select f.* from switchyard.footprint f
where (select switchyard.sees_all())
  or exists (select from switchyard.action a where a.action_uuid = f.action_uuid and a.submitted_by = (select switchyard.caller()));
comment on view switchyard.visible_footprint is 'The footprints of the actions that the caller may see.';
