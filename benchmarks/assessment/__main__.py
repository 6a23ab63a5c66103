"""P6: the assessment on a layer of full size, beside plain geopandas on the same layer in the same run.

    python -m benchmarks.assessment [--parcels N] [--no-gpkg] [--json]

Wall times are medians; CPU times stand beside them, because on a busy machine they are what can be compared.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

from assessment.bundle.scale import PARCELS
from benchmarks.assessment import data


def child(*words: object) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def cold(*words: object, times: int = 3) -> dict[str, float]:
    """A whole process, from nothing to its end, the best of a few."""
    walls, cpus = [], []
    for _ in range(times):
        wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *map(str, words)], capture_output=True, check=True, env=_plain_environment()
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        walls.append(time.perf_counter() - wall)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {"seconds": min(walls), "cpu": min(cpus)}


def _plain_environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("SWITCHYARD_")}


def run(count: int, *, with_geopackage: bool) -> dict[str, Any]:
    parcels, bundle = data.parcels(count), data.bundle(count)
    many, one = data.sites()
    cost = bundle / "cost.json"
    found: dict[str, Any] = {
        "parcels": count,
        "build": json.loads(cost.read_text()) if cost.exists() else None,
    }
    found["ours"] = child("benchmarks.assessment.ours", bundle, many, one)
    found["geopandas, parquet"] = child("benchmarks.assessment.theirs", "parquet", parcels, many, one)
    if with_geopackage:
        layer = data.geopackage(count)
        found["geopandas, gpkg"] = child("benchmarks.assessment.theirs", "gpkg", layer, many, one)
    out = data.folder() / "out"
    words = ("-m", "assessment", "run", one, "-q", "-b", bundle, "-o", out)
    found["ours, cold"] = cold(*words)
    fastest = ("gpkg", data.geopackage(count)) if with_geopackage else ("parquet", parcels)
    found["geopandas, cold"] = cold("-m", "benchmarks.assessment.theirs", *fastest, one, "-")
    return found


def ratios(found: dict[str, Any]) -> dict[str, float]:
    """How many times as fast as the faster of the two readers; by CPU time as well."""
    others = [value for key, value in found.items() if key in ("geopandas, parquet", "geopandas, gpkg")]
    result = {}
    for size in ("many", "one"):
        for unit in ("seconds", "cpu"):
            best = min(other[size][unit] for other in others)
            result[f"{size}, {unit}"] = round(best / found["ours"][size][unit], 1)
    for unit in ("seconds", "cpu"):
        share = found["ours, cold"][unit] / found["geopandas, cold"][unit]
        result[f"cold, share of geopandas' {unit}"] = round(share, 2)
    return result


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--parcels", type=int, default=PARCELS)
    words.add_argument("--no-gpkg", action="store_true", help="compare with GeoParquet alone")
    words.add_argument("--json", action="store_true")
    said = words.parse_args()
    found = run(said.parcels, with_geopackage=not said.no_gpkg)
    found["ratios"] = ratios(found)
    if said.json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name}: {json.dumps(value)}")


if __name__ == "__main__":
    main()
