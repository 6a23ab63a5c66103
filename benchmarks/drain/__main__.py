"""P1: actions drained a second, everybody on the same server in the same run, in turns.

python -m benchmarks.drain --actions 60000 --rounds 3 --workers 2 --batch 500
"""

import argparse
import json
import statistics
import time
from collections import defaultdict

import psycopg

from benchmarks import effort
from benchmarks.drain.contestants import Contestant, all_of
from benchmarks.server import fresh, server, settle_down
from tests.parts.postgres import Server

PATIENCE = 300.0


def drained(who: Contestant, on: Server, count: int, processes: int) -> tuple[float, float]:
    """Actions a second from the word go until nothing is left, and microseconds of processor an action."""
    url = fresh(on)
    who.prepare(url, count)
    settle_down(url)
    who.start(url, processes)
    try:
        with psycopg.connect(url, autocommit=True) as watch:
            pids = [on.process.pid, *(child.pid for child in who.running)]
            began, spent = time.monotonic(), effort.seconds(pids)
            who.go(url)
            while watch.execute(who.left).fetchone() != (False,):
                time.sleep(0.02)
                assert time.monotonic() - began < PATIENCE, f"{who.name} does not end"
            took = time.monotonic() - began
            return count / took, (effort.seconds(pids) - spent) / count * 1e6
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
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with server() as on:
        for round_number in range(options.rounds):
            for processes in (1, 2):
                for who in wanted:
                    rate, cost = drained(who, on, options.actions, processes)
                    found[f"{who.name} x{processes}"].append((rate, cost))
                    print(
                        f"round {round_number + 1}: {who.name:16} {processes} process(es) {rate:10,.0f}/s"
                        f" {cost:8.1f} us of processor an action",
                        flush=True,
                    )
    rates = {name: round(statistics.median(rate for rate, _ in all_)) for name, all_ in found.items()}
    costs = {name: round(statistics.median(cost for _, cost in all_), 1) for name, all_ in found.items()}
    for name, rate in sorted(rates.items()):
        print(f"{name:22} {rate:10,}/s {costs[name]:8.1f} us")
    print(json.dumps({"actions": options.actions, "per_second": rates, "cpu_us": costs}))


if __name__ == "__main__":
    main()
