"""P1: actions drained a second, everybody on the same server in the same run, in turns.

python -m benchmarks.drain --actions 60000 --rounds 3 --workers 2 --batch 500
"""

import argparse
import json
import statistics
import time
from collections import defaultdict

import psycopg

from benchmarks.drain.contestants import Contestant, all_of
from benchmarks.server import fresh, server, settle_down
from tests.parts.postgres import Server

PATIENCE = 300.0


def drained(who: Contestant, on: Server, count: int, processes: int) -> float:
    """Actions a second from the word go until nothing is left."""
    url = fresh(on)
    who.prepare(url, count)
    settle_down(url)
    who.start(url, processes)
    try:
        with psycopg.connect(url, autocommit=True) as watch:
            began = time.monotonic()
            who.go(url)
            while watch.execute(who.left).fetchone() != (False,):
                time.sleep(0.02)
                assert time.monotonic() - began < PATIENCE, f"{who.name} does not end"
            return count / (time.monotonic() - began)
    finally:
        who.stop()


def main() -> None:
    """Measure, and print a table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--actions", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    wanted = [who for who in all_of(options.workers, options.batch) if options.only in ("", who.name)]
    found: dict[str, list[float]] = defaultdict(list)
    with server() as on:
        for round_number in range(options.rounds):
            for processes in (1, 2):
                for who in wanted:
                    rate = drained(who, on, options.actions, processes)
                    found[f"{who.name} x{processes}"].append(rate)
                    print(f"round {round_number + 1}: {who.name:16} {processes} process(es) {rate:10,.0f}/s")
    median = {name: round(statistics.median(rates)) for name, rates in found.items()}
    for name, rate in sorted(median.items()):
        print(f"{name:22} {rate:10,}/s")
    print(json.dumps({"actions": options.actions, "median": median}))


if __name__ == "__main__":
    main()
