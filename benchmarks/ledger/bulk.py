"""Bulk submitting beside a bare COPY of the same rows into the same table without its triggers.

python -m benchmarks.ledger.bulk --actions 200000 --rounds 5
"""

import argparse
import statistics
import time
from collections.abc import Sequence

import psycopg

from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server
from switchyard.ledger import migrate
from switchyard.submit import Submission, submit_many


def rate(url: str, submissions: Sequence[Submission], *, triggers: bool) -> float:
    """Actions a second."""
    migrate.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        if not triggers:
            connection.execute("alter table switchyard.action disable trigger action_makes_thread")
        began = time.perf_counter()
        submit_many(connection, submissions)
        return len(submissions) / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--actions", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    submissions = [Submission("webhook", {"url": "https://partner.example/hook", "number": n}, correlation_id=f"order-{n}")
                   for n in range(chosen.actions)]  # fmt: skip
    bare, ours = [], []
    with server() as postgres:
        for _ in range(chosen.rounds):
            bare.append(rate(fresh(postgres), submissions, triggers=False))
            ours.append(rate(fresh(postgres), submissions, triggers=True))
    publish("Bulk submit", [
        Figure("bare COPY", statistics.median(bare), "rows/s"),
        Figure("submit_many", statistics.median(ours), "actions/s"),
        Figure("ratio", statistics.median(ours) / statistics.median(bare), "x", at_least=0.5),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
