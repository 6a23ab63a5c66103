-- Partitions: made ahead, dropped whole. There is no default partition: a row that fits nowhere is an error at once.
create table switchyard.partitioning (
  only_one boolean primary key default true check (only_one),
  partition_interval text not null default 'day',
  constraint partition_interval_is_day_week_or_month check (partition_interval in ('day', 'week', 'month'))
);
comment on table switchyard.partitioning is 'How long a stretch of time the next partitions cover.';
insert into switchyard.partitioning default values;

create table switchyard.partition_span (
  starts_at timestamptz primary key,
  ends_at timestamptz not null unique,
  suffix text not null unique,
  constraint partition_span_goes_forward check (ends_at > starts_at)
);
comment on table switchyard.partition_span is 'The stretches of time that there are partitions for; action, thread and event share them.';
