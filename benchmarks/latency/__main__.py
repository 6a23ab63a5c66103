"""P2: from the commit of an insert to the handler's entry, all systems on the same server in the same run.

    python -m benchmarks.latency [--count 200] [--rounds 2] [--only switchyard river …] [--pace "50 a second"]

The contestants take turns, round by round. `switchyard` is `conductor run` with a handler that is called for
each action, `switchyard, batches` the same with one that takes a whole claim, as noop does.
"""

import argparse
import json
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.latency import ours
from benchmarks.peers import install
from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server
from tests.parts.cache import UnavailableError

PACES = {"every 250 ms": 0.25, "50 a second": 0.02}
OURS = {"switchyard": "noting", "switchyard, batches": "noting_batches"}

Measure = Callable[[str, int, float], Sequence[float]]


def peer(command: Sequence[str | Path], cwd: Path | None, *, prepare: bool = False) -> Measure:
    """A program that inserts and handles in one process, and prints the milliseconds."""

    def measure(url: str, count: int, every: float) -> list[float]:
        if prepare:
            subprocess.run([*command, "prepare", url, "0"], cwd=cwd, check=True)
        words = [*command, "latency", url, str(count), str(round(every * 1000))]
        done = subprocess.run(words, cwd=cwd, input="go\n", capture_output=True, text=True, check=True)
        found: list[float] = json.loads(done.stdout.splitlines()[-1])
        return found

    return measure


def python_peers() -> dict[str, Measure]:
    """Those that need a newer Python than ours, where there is one."""
    try:
        folder = install.python()
    except UnavailableError as error:
        print(f"without the peers in Python: {error}")
        return {}
    names = {"oban": "oban_peer.py", "pgqueuer": "pgqueuer_peer.py", "awa": "awa_peer.py"}
    return {name: peer([folder / "bin" / "python", script], folder) for name, script in names.items()}


def contestants() -> dict[str, Measure]:
    """Everybody, by name."""
    return {
        **{name: ours.measured(kind) for name, kind in OURS.items()},
        "river": peer([install.river()], None, prepare=True),
        "graphile-worker": peer(["node", "graphile.mjs"], install.node()),
        **python_peers(),
    }


def measure_all(
    everybody: Mapping[str, Measure], paces: Mapping[str, float], count: int, rounds: int
) -> dict[str, dict[str, list[float]]]:
    """Milliseconds by pace and contestant."""
    found: dict[str, dict[str, list[float]]] = {pace: {name: [] for name in everybody} for pace in paces}
    with server() as on:
        for number in range(rounds):
            for pace, every in paces.items():
                for name, measure in everybody.items():
                    values = measure(fresh(on), count, every)
                    found[pace][name] += values
                    print(f"{number + 1} {pace:14} {name:20} {statistics.median(values):7.2f} ms", flush=True)
    return found


def figures(pace: str, found: Mapping[str, Sequence[float]]) -> list[Figure]:
    """Percentiles of everybody at one pace; ours should be the smallest."""
    made = []
    for place, cut in ((49, "p50"), (98, "p99")):
        cuts = {name: statistics.quantiles(values, n=100)[place] for name, values in found.items()}
        chart = f"From commit to handler, {pace}, {cut}"
        made += [Figure(name, value, "ms", chart=chart) for name, value in cuts.items()]
        peers = [value for name, value in cuts.items() if name not in OURS]
        if peers and "switchyard" in cuts:
            share = cuts["switchyard"] / min(peers)
            made.append(Figure(f"{cut} beside the best peer", share, "x", at_most=1.0))
    return made


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200, help="inserts of each, in each round, at each pace")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="+", help="these contestants alone")
    parser.add_argument("--pace", choices=PACES, help="this pace alone")
    options = parser.parse_args()
    paces = {options.pace: PACES[options.pace]} if options.pace else PACES
    everybody = contestants()
    chosen = {name: everybody[name] for name in options.only or everybody}
    for pace, found in measure_all(chosen, paces, options.count, options.rounds).items():
        publish(f"P2 latency, {pace}", figures(pace, found))


if __name__ == "__main__":
    main()
