"""P11: why an action has not ended, with 1,000,000 open actions; and whether the estimate's 80 % are 80 %.

python -m benchmarks.ledger.why
"""

import argparse
import statistics
import time
from typing import Any
from uuid import UUID

import psycopg

from benchmarks.ledger.estimates import coverage
from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server, settle_down
from switchyard.ledger import migrate

SAMPLE = 300


def milliseconds(connection: psycopg.Connection[Any], uuids: list[UUID]) -> list[float]:
    """How long each of these took to explain."""
    taken = []
    for uuid in uuids:
        began = time.perf_counter()
        connection.execute("select switchyard.why_detail(%s)", [uuid]).fetchall()
        taken.append((time.perf_counter() - began) * 1000)
    return taken


def explained(connection: psycopg.Connection[Any], open_actions: int) -> list[float]:
    """Milliseconds for the first of a long line, for some in its middle, and for some that wait for their start."""
    connection.execute(
        "insert into switchyard.worker (kind, action_name, host, slots) values ('conductor', 'noop', 'h', 50)"
    )
    connection.execute(
        "insert into switchyard.action (action_name, start_after)"
        " select 'noop', case when n %% 100 = 0 then now() + interval '1 hour' end from generate_series(1, %s) as n",
        [open_actions],
    )
    uuids = connection.execute(
        "(select action_uuid from switchyard.yard order by action_uuid limit %(n)s) union all"
        " (select action_uuid from switchyard.yard tablesample system (2) order by random() limit %(n)s)",
        {"n": SAMPLE},
    ).fetchall()
    found = [uuid for (uuid,) in uuids]
    milliseconds(connection, found[:20])
    return milliseconds(connection, found)


def main() -> None:
    """Explain some of very many, then simulate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", type=int, default=1_000_000)
    parser.add_argument("--simulations", type=int, default=12)
    chosen = parser.parse_args()
    with server() as postgres:
        with psycopg.connect(url := fresh(postgres), autocommit=True) as connection:
            migrate.upgrade(url)
            taken = sorted(explained(connection, chosen.open))
            settle_down(url)
            settled = sorted(explained(connection, 100))
        with psycopg.connect(url := fresh(postgres), autocommit=True) as connection:
            migrate.upgrade(url)
            held = coverage(connection, chosen.simulations)
    publish(f"P11 why, {chosen.open:,} open actions", [
        Figure("why, median", statistics.median(taken), "ms", at_most=10),
        Figure("why, p99", taken[int(0.99 * len(taken)) - 1], "ms"),
        Figure("why after a vacuum, median", statistics.median(settled), "ms", at_most=10),
        Figure("estimates in line", held.waiting, "", at_least=100),
        Figure("in line: ended within the 80 % interval", held.waiting_share, "%", at_least=70, at_most=90),
        Figure("estimates of running", held.running, "", at_least=100),
        Figure("running: ended within the 80 % interval", held.running_share, "%", at_least=70, at_most=90),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
