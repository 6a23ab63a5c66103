"""P1: actions drained per second, all systems on the same server in the same run, in turns.

python -m benchmarks.drain --actions 100000 --rounds 3 --workers 2 --batch 2000
"""

import argparse
import json
import statistics
from collections import defaultdict

from benchmarks.drain.contestants import all_of
from benchmarks.drain.drained import drained
from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server


def figures(processes: int, rates: dict[str, int], costs: dict[str, float]) -> list[Figure]:
    """Everybody with this many processes; we should lead, by a fifth with two, and come near to the floor."""
    ending = f" x{processes}"
    of_these = {name.removesuffix(ending): rate for name, rate in rates.items() if name.endswith(ending)}
    chart = f"Actions drained a second, processes: {processes}"
    found = [Figure(name, rate, "actions/s", chart=chart) for name, rate in of_these.items()]
    found += [Figure(f"{name}, processor", costs[name + ending], "us/action") for name in of_these]
    ours, floor = of_these.pop("switchyard", None), of_these.pop("floor", None)
    if ours and of_these:
        lead = {1: 1.0, 2: 1.2}.get(processes)
        found.append(Figure("beside the best peer", ours / max(of_these.values()), "x", at_least=lead))
    if ours and floor:
        found.append(Figure("beside the floor", ours / floor, "x", at_least=0.8))
    return found


def main() -> None:
    """Measure, and print a table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--actions", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=2000)
    parser.add_argument("--only", default="", help="names, with commas")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    only = options.only.split(",") if options.only else None
    wanted = [who for who in all_of(options.workers, options.batch) if only is None or who.name in only]
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with server() as on:
        for round_number in range(options.rounds):
            for processes in options.processes:
                for who in wanted:
                    who.prepare(url := fresh(on), options.actions)
                    rate, cost = drained(who, on, url, options.actions, processes)
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
    for processes in options.processes:
        publish(f"P1 drain, processes: {processes}", figures(processes, rates, costs))


if __name__ == "__main__":
    main()
