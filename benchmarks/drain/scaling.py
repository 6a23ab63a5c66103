"""How draining scales with the conductors, and with the ended threads that the ledger keeps, a day a partition.

python -m benchmarks.drain.scaling --processes 1 2 4 --history 1000 100000 10000000
"""

import argparse
import statistics

import psycopg

from benchmarks.drain.contestants import Switchyard
from benchmarks.drain.drained import drained
from benchmarks.ledger import past
from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server


def main() -> None:
    """One database that grows; medians of the rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--actions", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--history", type=int, nargs="+", default=[1_000, 100_000, 10_000_000])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=2000)
    options = parser.parse_args()
    who = Switchyard(options.workers, options.batch)
    figures = []
    with server() as on:
        who.prepare(url := fresh(on), 0)
        with psycopg.connect(url, autocommit=True) as connection:
            past.partitions(connection)
            ended = 0
            for history in options.history:
                past.threads(connection, history - ended)
                ended = history
                for processes in options.processes:
                    found = []
                    for _ in range(options.rounds):
                        who.submit(url, options.actions)
                        found.append(drained(who, on, url, options.actions, processes))
                        ended += options.actions
                    name = f"{processes} conductor(s), {history:,} ended"
                    rate, cost = (statistics.median(column) for column in zip(*found, strict=True))
                    print(f"{name:36} {rate:10,.0f}/s {cost:6.1f} us of processor an action", flush=True)
                    figures.append(Figure(name, rate, "actions/s"))
                    figures.append(Figure(f"{name}, processor", cost, "us an action"))
    publish("P1 scaling", figures)


if __name__ == "__main__":
    main()
