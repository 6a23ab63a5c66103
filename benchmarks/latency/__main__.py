"""P2: from the commit of an insert to the handler's entry, everybody on the same server in the same run.

python -m benchmarks.latency --count 200
"""

import argparse
import json
import statistics
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.latency import ours
from benchmarks.peers import install
from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server

PACES = {"every 250 ms": 0.25, "50 a second": 0.02}


Measure = Callable[[str, int, float], Sequence[float]]


def peer(command: Sequence[str | Path], cwd: Path | None, *, prepare: bool) -> Measure:
    """A program that inserts and handles in one process, and prints the milliseconds."""

    def measure(url: str, count: int, every: float) -> list[float]:
        if prepare:
            subprocess.run([*command, "prepare", url, "0"], cwd=cwd, check=True)
        words = [*command, "latency", url, str(count), str(round(every * 1000))]
        done = subprocess.run(words, cwd=cwd, input="go\n", capture_output=True, text=True, check=True)
        found: list[float] = json.loads(done.stdout.splitlines()[-1])
        return found

    return measure


def figures(pace: str, summary: dict[str, dict[str, float]]) -> list[Figure]:
    """Percentiles of everybody at one pace; ours should be the smallest."""
    of_these = {name.removesuffix(f", {pace}"): cuts for name, cuts in summary.items() if name.endswith(pace)}
    found = []
    for cut in ("p50", "p99"):
        chart = f"From commit to handler, {pace}, {cut}"
        best = min(cuts[cut] for name, cuts in of_these.items() if name != "switchyard")
        found += [Figure(name, cuts[cut], "ms", chart=chart) for name, cuts in of_these.items()]
        found.append(
            Figure(f"{cut} beside the best peer", of_these["switchyard"][cut] / best, "x", at_most=1.0)
        )
    return found


def main() -> None:
    """Measure, and print the percentiles."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    contestants: dict[str, Measure] = {
        "switchyard": ours.measure,
        "river": peer([install.river()], None, prepare=True),
        "graphile-worker": peer(["node", "graphile.mjs"], install.node(), prepare=False),
    }
    summary = {}
    with server() as on:
        for pace, every in PACES.items():
            found: dict[str, list[float]] = {name: [] for name in contestants}
            for _ in range(options.rounds):
                for name, measure in contestants.items():
                    found[name] += measure(fresh(on), options.count, every)
                    print(f"{pace:14} {name:16} {statistics.median(found[name]):6.2f} ms", flush=True)
            for name, values in found.items():
                cuts = statistics.quantiles(values, n=100)
                summary[f"{name}, {pace}"] = {"p50": round(cuts[49], 2), "p99": round(cuts[98], 2)}
                print(f"{pace:14} {name:16} p50 {cuts[49]:6.2f} ms   p99 {cuts[98]:6.2f} ms")
    print(json.dumps(summary))
    for pace in PACES:
        publish(f"P2 latency, {pace}", figures(pace, summary))


if __name__ == "__main__":
    main()
