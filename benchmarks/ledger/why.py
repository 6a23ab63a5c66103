"""P11: why an action has not ended, with 1,000,000 open actions; and whether the estimate's 80 % are 80 %.

python -m benchmarks.ledger.why --open 1000000 --simulations 60
"""

import argparse
import statistics
import sys
import time
from typing import Any
from uuid import UUID

import psycopg

from benchmarks.ledger.estimates import coverage
from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server, settle_down
from switchyard.ledger import migrate

SAMPLE = 300
GROUP = 50_000  # actions per statement
WORKER = (
    "insert into switchyard.worker (kind, action_name, host, slots) values ('conductor', 'noop', 'h', 50)"
)
SUBMIT = """insert into switchyard.action (action_name, start_after)
  select 'noop', case when n %% 100 = 0 then now() + interval '1 hour' end from generate_series(1, %s) as n"""


def milliseconds(connection: psycopg.Connection[Any], uuids: list[UUID]) -> list[float]:
    """How long each of these took to explain."""
    taken = []
    for uuid in uuids:
        began = time.perf_counter()
        connection.execute("select switchyard.why_detail(%s)", [uuid]).fetchall()
        taken.append((time.perf_counter() - began) * 1000)
    return taken


def fill(connection: psycopg.Connection[Any], open_actions: int) -> None:
    """One worker and this many actions, each hundredth of which waits for its start."""
    connection.execute(WORKER)
    for done in range(0, open_actions, GROUP):
        print(f"{done:,} of {open_actions:,} actions submitted", file=sys.stderr, flush=True)
        connection.execute(SUBMIT, [min(GROUP, open_actions - done)])


def explained(connection: psycopg.Connection[Any]) -> list[float]:
    """Milliseconds for the first of a long line, for some in its middle, and for some that wait for their start."""
    uuids = connection.execute(
        "(select action_uuid from switchyard.yard order by action_uuid limit %(n)s) union all"
        " (select action_uuid from switchyard.yard tablesample system (2) order by random() limit %(n)s)",
        {"n": SAMPLE},
    ).fetchall()
    found = [uuid for (uuid,) in uuids]
    milliseconds(connection, found[:20])
    return sorted(milliseconds(connection, found))


def main() -> None:
    """Explain some of very many, then simulate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", type=int, default=1_000_000)
    parser.add_argument("--simulations", type=int, default=60)
    chosen = parser.parse_args()
    with server() as postgres:
        with psycopg.connect(url := fresh(postgres), autocommit=True) as connection:
            migrate.upgrade(url)
            fill(connection, chosen.open)
            taken = explained(connection)
            settle_down(url)
            settled = explained(connection)
        with psycopg.connect(url := fresh(postgres), autocommit=True) as connection:
            migrate.upgrade(url)
            held = coverage(connection, chosen.simulations)
    publish(f"P11 why, {chosen.open:,} open actions", [
        Figure("why, median", statistics.median(taken), "ms", at_most=10),
        Figure("why, p99", taken[int(0.99 * len(taken)) - 1], "ms"),
        Figure("why after a vacuum, median", statistics.median(settled), "ms", at_most=10),
        *held.figures(),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
