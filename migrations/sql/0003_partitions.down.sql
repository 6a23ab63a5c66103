drop view switchyard.partitions;
drop function switchyard.drop_partitions(timestamptz);
drop function switchyard.drop_partition(text);
drop function switchyard.ensure_partitions(integer);
drop function switchyard.attach_partition(text, text, timestamptz, timestamptz);
drop function switchyard.maintenance_lock();
do $$
declare
  leaf text;
begin
  for leaf in select parent || '_' || suffix from switchyard.partition_span, unnest(array['action', 'thread', 'event']) as parent loop
    execute format('drop table switchyard.%I', leaf);
  end loop;
end
$$;
drop table switchyard.partition_span;
drop table switchyard.partitioning;
