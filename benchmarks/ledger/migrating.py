"""How long a reader and a writer wait for a migration of a ledger with many rows: goal, at most 100 ms.

python -m benchmarks.ledger.migrating --rows 1000000

The migration is one that a next release might bring: a column of `thread` and one of `action`, every view
changed, every function replaced. Waits for locks are those that Postgres logs, from 55 ms on; the slowest round
of the reader (a row of each view) or the writer (an action from its submission to its end) has all that it met.
"""

import argparse
import tempfile
import time
from pathlib import Path

import psycopg

from benchmarks.ledger.past import partitions, threads
from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server, settle_down
from switchyard.ledger import migrate
from tests.deployment.bystanders import SETTINGS, Bystanders, bystanders
from tests.deployment.next_release import next_release
from tests.waiting import until

GOAL = 100.0  # milliseconds


def fill(url: str, rows: int) -> None:
    """Ended threads in partitions of the past, and a hundredth as many that wait."""
    with psycopg.connect(url, autocommit=True) as connection:
        partitions(connection)
        for done in range(0, rows, 100_000):
            threads(connection, min(100_000, rows - done))
            print(f"{min(done + 100_000, rows):,} of {rows:,} rows", flush=True)
        connection.execute("select switchyard.submit('wait') from generate_series(1, %s)", [rows // 100])
    settle_down(url)


def measured(rows: int) -> tuple[float, Bystanders]:
    """Seconds that the migration took, and who was there."""
    with server(**SETTINGS) as on, tempfile.TemporaryDirectory(prefix="switchyard-next-") as folder:
        url = fresh(on)
        migrate.upgrade(url)
        fill(url, rows)
        following = next_release(Path(folder))
        with bystanders(url, on.process.log) as both:
            until(lambda: both.reads > 100 and both.writes > 100)
            print(f"slowest round before it: {both.slowest:.1f} ms", flush=True)
            both.slowest = 0.0
            began = time.monotonic()
            setattr(migrate, "folder", lambda: following)  # noqa: B010
            migrate.upgrade(url)
            took = time.monotonic() - began
            reads, writes = both.reads, both.writes
            until(lambda: both.reads > reads + 100 and both.writes > writes + 100)
        assert both.errors == [], both.errors
        return took, both


def main() -> None:
    """Print every wait, and the longest beside its goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=1_000_000, help="ended threads, each with action and event"
    )
    rows = parser.parse_args().rows
    took, both = measured(rows)
    waits = both.waits()
    for what, milliseconds in sorted(waits.items(), key=lambda each: -each[1]):
        print(f"{milliseconds:8.1f} ms  {what}")
    publish(
        "migrating",
        [
            Figure(f"longest wait beside a migration of {rows:,} rows", max(waits.values(), default=0.0), "ms",
                   at_most=GOAL),
            Figure("slowest round of reader or writer", both.slowest, "ms"),
            Figure("the migration itself", took, "s"),
        ],
    )  # fmt: skip


if __name__ == "__main__":
    main()
