"""Every figure in one run: python -m benchmarks [--quick] [--only drain,http.conduct]

One benchmark after the other, each a process of its own that brings its server and the peers beside us. At the
end one table, results/bench.json (machine, commit, date, every figure, its goal and whether it is met) and
results/bench.svg. All of it takes about three quarters of an hour on two cores, --quick a few minutes with
figures that vary more.
With --only, the others' figures stay in the file as they were; each has the commit, date and load of its own run.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from benchmarks import picture
from benchmarks.report import FOLDER, Figure, show

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"
FILE = RESULTS / "bench.json"
# The module and its arguments, for a full run and for a quick one; without the latter it is left out.
BENCHMARKS: list[tuple[str, str, str]] = [
    ("drain", "--rounds 5", "--rounds 1 --actions 20000"),
    ("drain.scaling", "", "--rounds 1 --actions 20000 --processes 1 2 --history 1000 100000"),
    ("latency", "--rounds 3", "--rounds 1 --count 60"),
    ("takeover", "", "--kills 2"),
    ("ledger.history", "--threads 10000000", "--threads 100000"),
    ("ledger.pinned", "--seconds 600", "--seconds 20"),
    ("http.conduct", "--rounds 5 --soak 200000", "--rounds 2 --count 1000"),
    ("ledger.bell", "--seconds 5 --rounds 5", "--seconds 2 --rounds 1"),
    ("ledger.bulk", "--rounds 5", "--rounds 1 --actions 50000"),
    ("ledger.cost", "", "--actions 3000 --workflows 40"),
    ("ledger.lanes", "--behind 1000000", "--actions 8000 --rounds 1 --behind 20000"),
    ("ledger.causes", "", "--failures 20000"),
    ("ledger.migrating", "", "--rows 50000"),
    ("sets.members", "", "--members 20000 --drained 5000"),
    ("sets.feeding", "", "--items 30000 --kills 6"),
    ("sets.beside", "", "--count 200 --items 20000"),
    ("ledger.why", "", "--open 50000 --simulations 3"),
    ("assessment", "", "--parcels 200000 --no-gpkg"),
    ("completion", "--rounds 3", "--rounds 1 --workflows 400"),
    ("signalbox", "--history 10000000", "--submissions 400 --watchers 200 --history 20000"),
    ("completion", "--memory 50000", ""),
]


def programme(quick: bool, wanted: list[str], words: str | None) -> list[tuple[str, str]]:
    """The modules to run, with their arguments."""
    if words is not None:
        return [(wanted[0], words)]
    chosen = [(module, short if quick else full) for module, full, short in BENCHMARKS if short or not quick]
    return [one for one in chosen if not wanted or one[0] in wanted]


def machine() -> dict[str, Any]:
    """The machine; figures of two machines cannot be compared."""
    model = [line for line in _read("/proc/cpuinfo").splitlines() if line.startswith("model name")]
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "processor": model[0].split(": ", 1)[1] if model else platform.machine(),
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def commit() -> str:
    """The commit, with a plus if files differ from it."""
    return _git("rev-parse", "--short", "HEAD") + ("+" if _git("status", "--porcelain") else "")


def run(module: str, words: str, folder: Path) -> dict[str, Any]:
    """Run one benchmark: its figures, or how it failed."""
    folder.mkdir(parents=True)
    print(f"\n== {module} {words}", flush=True)
    began, load = time.monotonic(), os.getloadavg()[0]
    command = [sys.executable, "-m", f"benchmarks.{module}", *words.split()]
    code = subprocess.run(command, cwd=ROOT, env={**os.environ, FOLDER: str(folder)}, check=False).returncode
    told = [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]
    return {
        "module": module,
        "command": f"python -m benchmarks.{module} {words}".strip(),
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "load_before": round(load, 1),
        "seconds": round(time.monotonic() - began),
        "failed": f"exit code {code}" if code else None,
        "published": sorted(told, key=lambda each: float(each["at"])),
    }


def figures(ran: list[dict[str, Any]]) -> dict[str, list[Figure]]:
    """By title, as they were published."""
    return {
        published["title"]: [
            Figure(**{name: value for name, value in figure.items() if name != "met"})
            for figure in published["figures"]
        ]
        for one in ran
        for published in one["published"]
    }


def earlier(wanted: list[str]) -> list[dict[str, Any]]:
    """Figures of other benchmarks from earlier runs."""
    if not FILE.exists():
        return []
    return [one for one in json.loads(FILE.read_text())["benchmarks"] if one["module"] not in wanted]


def keep(ran: list[dict[str, Any]]) -> dict[str, Any]:
    """Write the file and the picture, in the order of BENCHMARKS."""
    order = [module for module, _, _ in BENCHMARKS]
    ran = sorted(ran, key=lambda one: order.index(one["module"]))
    goals = [figure.met for each in figures(ran).values() for figure in each if figure.met is not None]
    met = {"met": goals.count(True), "missed": goals.count(False)}
    content = {"machine": machine(), "goals": met, "benchmarks": ran}
    FILE.write_text(json.dumps(content, indent=2))
    FILE.with_suffix(".svg").write_text(picture.draw(content))
    return content


def main() -> None:
    """Run the selected benchmarks and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a few minutes, smaller and with fewer rounds")
    parser.add_argument("--only", default="", help="these modules alone, separated by commas")
    parser.add_argument("--words", help="for the module of --only, instead of those that it usually gets")
    chosen = parser.parse_args()
    wanted = [name for name in chosen.only.split(",") if name]
    if unknown := set(wanted) - {module for module, _, _ in BENCHMARKS}:
        parser.error(f"there is no benchmark {min(unknown)}")
    if chosen.words is not None and len(wanted) != 1:
        parser.error("--words needs the one module of --only that they are for")
    stamp = f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    ran = [
        run(module, words, RESULTS / "bench" / f"{stamp}-{number:02}-{module}")
        for number, (module, words) in enumerate(programme(chosen.quick, wanted, chosen.words))
    ]
    content = keep([*(earlier(wanted) if wanted else []), *ran])
    goals = content["goals"]
    print()
    show(dict(figures(content["benchmarks"])))
    print(f"\n{goals['met']} goals met, {goals['missed']} missed; {FILE}, {FILE.with_suffix('.svg')}")
    if failed := [one["command"] for one in ran if one["failed"]]:
        raise SystemExit("did not run to their end: " + "; ".join(failed))


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


if __name__ == "__main__":
    main()
