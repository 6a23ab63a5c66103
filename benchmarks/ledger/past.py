"""A history of ended threads, one partition per day, written without the triggers, which would take hours."""

import sys
import time
from itertools import count
from typing import Any

import psycopg

DAYS = 36
SHOWN = 100_000  # from here on it takes long enough to print how far it is

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
# A day's threads in the order of their ids, so that every index grows at its end. The ids are of version 7 but for their
# random part, which counts: making it at random takes as long as the three rows.
THREADS = """
with past as materialized (
  select (lpad(to_hex(floor(extract(epoch from d.starts_at) * 1000)::bigint + n * 86000000 / %(count)s), 12, '0')
    || '70008' || lpad(to_hex(%(tag)s::integer), 3, '0') || lpad(to_hex(n), 12, '0'))::uuid as id
  from (select date_trunc('day', now()) - make_interval(days => %(day)s) as starts_at) as d, generate_series(1, %(count)s::bigint) as n
), actions as (
  insert into switchyard.action (action_uuid, action_name, action_type, workflow)
  select id, 'noop', case when %(workflow)s::text is null then 'callback' else 'workflow' end, %(workflow)s from past
), events as (
  insert into switchyard.event (action_uuid, status, run, attempt, source) select id, 'SUCCESSFUL', 1, 1, 'conductor' from past
)
insert into switchyard.thread (action_uuid, created_at, action_name, priority, status, attempt, started_at, ended_at)
select id, switchyard.uuid_time(id), 'noop', 100, 'SUCCESSFUL', 1, now(), now() from past
"""
_tags = count(1)  # no two ids alike


def partitions(connection: psycopg.Connection[Any]) -> None:
    """A partition for each day of the past."""
    connection.execute(PARTITIONS, [DAYS])


def threads(connection: psycopg.Connection[Any], wanted: int, workflow: str | None = None) -> None:
    """This many more ended threads, each with its action and its event, spread over those days."""
    days = DAYS - 1
    began = time.monotonic()
    connection.execute("set session_replication_role = replica")
    for number in range(days):
        many = wanted // days + (number < wanted % days)
        if many > 0:
            connection.execute(
                THREADS, {"day": 2 + number, "count": many, "tag": next(_tags), "workflow": workflow}
            )
        if wanted >= SHOWN:
            spent = time.monotonic() - began
            print(f"day {number + 1} of {days}: {many:,} threads, {spent:.0f} s so far", file=sys.stderr)
    connection.execute("set session_replication_role = origin")
