"""A past of ended threads, a day a partition, written without the triggers: millions would take the roll-up hours."""

from typing import Any

import psycopg

DAYS = 36
AT_ONCE = 500_000

PARTITIONS = """
with span as (
  select date_trunc('day', now()) - make_interval(days => n) as starts_at from generate_series(2, %s) as n
), made as (
  select switchyard.attach_partition(parent, to_char(starts_at, 'YYYYMMDD'), starts_at, starts_at + interval '1 day'), starts_at
  from span, unnest(array['action', 'thread', 'event']) as parent
)
insert into switchyard.partition_span
select distinct starts_at, starts_at + interval '1 day', to_char(starts_at, 'YYYYMMDD') from made
"""
THREADS = """
with past as (
  select switchyard.uuid7(date_trunc('day', now()) - make_interval(days => 1 + n %% %s, secs => n %% 86000)) as id
  from generate_series(1, %s) as n
), actions as (
  insert into switchyard.action (action_uuid, action_name) select id, 'noop' from past
)
insert into switchyard.thread (action_uuid, created_at, action_name, priority, status, attempt, started_at, ended_at)
select id, switchyard.uuid_time(id), 'noop', 100, 'SUCCESSFUL', 1, now(), now() from past
"""


def partitions(connection: psycopg.Connection[Any]) -> None:
    """A partition for each day of the past."""
    connection.execute(PARTITIONS, [DAYS])


def threads(connection: psycopg.Connection[Any], count: int) -> None:
    """So many more ended threads, spread over those days."""
    connection.execute("set session_replication_role = replica")
    for left in range(count, 0, -AT_ONCE):
        connection.execute(THREADS, [DAYS - 1, min(left, AT_ONCE)])
    connection.execute("set session_replication_role = origin")
