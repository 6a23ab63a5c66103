"""P6: the assessment on a layer of full size, beside plain geopandas on the same layer in the same run.

    python -m benchmarks.assessment [--parcels N] [--no-gpkg] [--prepare] [--json]

What each side does. Warm: we do all steps of the assessment (land use, catchments, works, authority,
wastewater, totals), geopandas reads the parcels in the bounding box and overlays them. Cold, a process from
nothing to its end: both read the site and write their rows to a file; ours is the whole `assessment run`, so it
writes output.json as well, and once more with the HTML report.

The layers and the bundle are made once, into a cache folder (SWITCHYARD_BENCH_DATA); `--prepare` does that
alone. All times are medians; CPU times are given beside them, because on a busy machine they are what can be
compared.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from typing import Any

from benchmarks.assessment import data
from benchmarks.assessment.scale import PARCELS
from benchmarks.report import Figure, publish

READERS = ("geopandas, parquet", "geopandas, gpkg")


def child(*words: object) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def cold(commands: dict[str, tuple[object, ...]], rounds: int = 7) -> dict[str, dict[str, float]]:
    """Whole processes in turn, so that load on the machine affects all alike; the first round is not counted."""
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(rounds + 1):
        for name, words in commands.items():
            spent[name].append(_process(words))
    return {
        name: {
            "seconds": statistics.median(wall for wall, _ in of_this[1:]),
            "cpu": statistics.median(cpu for _, cpu in of_this[1:]),
        }
        for name, of_this in spent.items()
    }


def _process(words: tuple[object, ...]) -> tuple[float, float]:
    wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", *map(str, words)], capture_output=True, check=True, env=_plain_environment()
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _plain_environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("SWITCHYARD_")}


def prepare(count: int, *, with_geopackage: bool) -> None:
    data.bundle(count)
    if with_geopackage:
        data.geopackage(count)


def run(count: int, *, with_geopackage: bool) -> dict[str, Any]:
    parcels, bundle = data.parcels(count), data.bundle(count)
    many, one = data.sites()
    cost = bundle / "cost.json"
    found: dict[str, Any] = {
        "parcels": count,
        "build": json.loads(cost.read_text()) if cost.exists() else None,
    }
    found["ours"] = child("benchmarks.assessment.ours", bundle, many, one)
    layers = {"parquet": parcels, **({"gpkg": data.geopackage(count)} if with_geopackage else {})}
    for kind, layer in layers.items():
        found[f"geopandas, {kind}"] = child("benchmarks.assessment.theirs", kind, layer, many, one)
    out = data.folder() / "out"
    ours = ("assessment", "run", one, "-q", "-b", bundle, "-o", out)
    return found | cold(
        {
            "ours, cold": (*ours, "--no-report"),
            "ours, cold, with report": ours,
            **{
                f"geopandas, {kind}, cold": (
                    "benchmarks.assessment.theirs", kind, layer, one, out / "theirs.csv",
                )
                for kind, layer in layers.items()
            },
        }
    )  # fmt: skip


def ratios(found: dict[str, Any]) -> dict[str, float]:
    """How many times as fast as the faster of the two readers; by CPU time as well."""
    others = [value for key, value in found.items() if key in READERS]
    processes = [value for key, value in found.items() if key in {f"{reader}, cold" for reader in READERS}]
    result = {}
    for size in ("many", "one"):
        for unit in ("seconds", "cpu"):
            best = min(other[size][unit] for other in others)
            result[f"{size}, {unit}"] = round(best / found["ours"][size][unit], 1)
    for name in ("cold", "cold, with report"):
        for unit in ("seconds", "cpu"):
            best = min(other[unit] for other in processes)
            result[f"{name}, {unit}"] = round(best / found[f"ours, {name}"][unit], 1)
    return result


def figures(found: dict[str, Any]) -> list[Figure]:
    """Times of everybody, and the ratios with their goals."""
    sides = ("ours", *READERS)
    result = []
    for size, title in (("many", "245 sites, warm"), ("one", "1 site, warm")):
        chart = f"Assessment of {title}, {found['parcels']:,} parcels"
        result += [
            Figure(side, found[side][size]["seconds"], "s", chart=chart) for side in sides if side in found
        ]
    chart = f"Assessment of 1 site by a new process, {found['parcels']:,} parcels"
    result += [
        Figure(side, found[f"{side}, cold"]["seconds"], "s", chart=chart)
        for side in sides
        if f"{side}, cold" in found
    ]
    share = found["ratios"]
    result += [
        Figure("245 sites, times as fast", share["many, seconds"], "x", at_least=10),
        Figure("1 site, times as fast", share["one, seconds"], "x", at_least=3),
        Figure("1 site in a new process, times as fast", share["cold, seconds"], "x", at_least=1.5),
    ]
    result.append(Figure("anonymous memory", found["ours"]["anonymous_mib"], "MiB", at_most=400))
    return result


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--parcels", type=int, default=PARCELS)
    words.add_argument("--no-gpkg", action="store_true", help="compare with GeoParquet alone")
    words.add_argument("--prepare", action="store_true", help="make layers and bundle, and measure nothing")
    words.add_argument("--json", action="store_true")
    said = words.parse_args()
    if said.prepare:
        prepare(said.parcels, with_geopackage=not said.no_gpkg)
        return
    found = run(said.parcels, with_geopackage=not said.no_gpkg)
    found["ratios"] = ratios(found)
    publish("P6 assessment", figures(found))
    if said.json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name}: {json.dumps(value)}")


if __name__ == "__main__":
    main()
