"""P3: claiming costs the same with millions of ended threads in 36 partitions as with none.

python -m benchmarks.ledger.history --threads 10000000
"""

import argparse
import statistics
from typing import Any

import psycopg

from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server
from switchyard.ledger import migrate

DAYS = 36
WAITING = 2000
BATCH = 100
ROUNDS = 30

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
HISTORY = """
with past as (
  select switchyard.uuid7(date_trunc('day', now()) - make_interval(days => 1 + n %% %s, secs => n %% 86000)) as id
  from generate_series(1, %s) as n
), actions as (
  insert into switchyard.action (action_uuid, action_name) select id, 'noop' from past
)
insert into switchyard.thread (action_uuid, created_at, action_name, priority, status, attempt, started_at, ended_at)
select id, switchyard.uuid_time(id), 'noop', 100, 'SUCCESSFUL', 1, now(), now() from past
"""


def measure(connection: psycopg.Connection[Any]) -> tuple[float, float]:
    """Buffers and milliseconds of one claim, medians; the locks are given back each time."""
    found: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        [(plan,)] = connection.execute(
            "explain (analyze, buffers, format json) select * from switchyard.claim('noop', %s)", [BATCH]
        ).fetchall()
        connection.execute("select pg_advisory_unlock_all()")
        top = plan[0]["Plan"]
        found.append((top["Shared Hit Blocks"] + top["Shared Read Blocks"], plan[0]["Execution Time"]))
    return statistics.median(b for b, _ in found), statistics.median(t for _, t in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=10_000_000)
    threads: int = parser.parse_args().threads
    with server() as postgres, psycopg.connect(url := fresh(postgres), autocommit=True) as connection:
        migrate.upgrade(url)
        connection.execute(PARTITIONS, [DAYS])
        connection.execute(
            f"insert into switchyard.action (action_name) select 'noop' from generate_series(1, {WAITING})".encode()
        )
        connection.execute("vacuum analyze")
        measure(connection)
        without = measure(connection)
        connection.execute("set session_replication_role = replica")
        for _ in range(0, threads, chunk := min(threads, 500_000)):
            connection.execute(HISTORY, [DAYS - 1, chunk])
        connection.execute("set session_replication_role = origin")
        connection.execute("vacuum analyze")
        measure(connection)
        with_history = measure(connection)
    publish(f"P3 claim, history of {threads:,}", [
        Figure("ended threads", threads, ""),
        Figure("buffers, none", without[0], "blocks"),
        Figure("buffers, all", with_history[0], "blocks"),
        Figure("buffers, ratio", with_history[0] / without[0], "x", at_most=1.1),
        Figure("time, none", without[1], "ms"),
        Figure("time, all", with_history[1], "ms"),
        Figure("time, ratio", with_history[1] / without[1], "x", at_most=1.1),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
