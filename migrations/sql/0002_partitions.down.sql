-- CASCADE takes along the views and functions of migrations/current that are made of these tables.
do $$
declare
  leaf text;
begin
  for leaf in select parent || '_' || suffix from switchyard.partition_span, unnest(array['action', 'thread', 'event']) as parent loop
    execute format('drop table switchyard.%I', leaf);
  end loop;
end
$$;
drop table switchyard.partition_span cascade;
drop table switchyard.partitioning cascade;
