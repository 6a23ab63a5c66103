"""P3: claiming costs the same with millions of ended threads in 36 partitions as with none.

python -m benchmarks.ledger.history --threads 10000000
"""

import argparse
import statistics
from typing import Any

import psycopg

from benchmarks.ledger import past
from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server
from switchyard.ledger import migrate

WAITING = 2000
BATCH = 100
ROUNDS = 30


def measure(connection: psycopg.Connection[Any]) -> tuple[float, float]:
    """Buffers and milliseconds of one claim, medians; the locks are given back each time."""
    found: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        [(plan,)] = connection.execute(
            "explain (analyze, buffers, format json) select * from switchyard.claim('noop', %s)", [BATCH]
        ).fetchall()
        connection.execute("select pg_advisory_unlock_all(), switchyard.forget_position()")
        top = plan[0]["Plan"]
        found.append((top["Shared Hit Blocks"] + top["Shared Read Blocks"], plan[0]["Execution Time"]))
    return statistics.median(b for b, _ in found), statistics.median(t for _, t in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=10_000_000)
    threads: int = parser.parse_args().threads
    with server() as postgres, psycopg.connect(url := fresh(postgres), autocommit=True) as connection:
        migrate.upgrade(url)
        past.partitions(connection)
        connection.execute(
            f"insert into switchyard.action (action_name) select 'noop' from generate_series(1, {WAITING})".encode()
        )
        connection.execute("vacuum analyze")
        measure(connection)
        without = measure(connection)
        past.threads(connection, threads)
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
