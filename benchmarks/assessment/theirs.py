"""Plain geopandas, in its own process: the parcels in the bounding box, and an overlay.

python -m benchmarks.assessment.theirs parquet|gpkg LAYER MANY ONE       warm, many times
python -m benchmarks.assessment.theirs parquet|gpkg LAYER SITE OUT.csv   once, with the areas written down
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import geopandas


def from_parquet(path: str, bounds: tuple[float, ...]) -> Any:
    return geopandas.read_parquet(path, bbox=bounds)


def from_geopackage(path: str, bounds: tuple[float, ...]) -> Any:
    return geopandas.read_file(path, bbox=bounds)


def measure(
    read: Callable[[str, tuple[float, ...]], Any], layer: str, path: str, times: int
) -> dict[str, Any]:
    sites = geopandas.read_file(path)
    walls, cpus = [], []
    for _ in range(times + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        parcels = read(layer, tuple(sites.total_bounds))
        found = geopandas.overlay(sites, parcels, how="intersection", keep_geom_type=True)
        assert len(found)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {
        "seconds": statistics.median(walls[1:]),
        "cpu": statistics.median(cpus[1:]),
        "best": min(walls[1:]),
        "parcels": len(parcels),
    }


def once(read: Callable[[str, tuple[float, ...]], Any], layer: str, path: str, out: str) -> None:
    """What a cold process has to do for an answer: read the site, overlay, write the rows."""
    sites = geopandas.read_file(path)
    found = geopandas.overlay(sites, read(layer, tuple(sites.total_bounds)), how="intersection")
    found.assign(hectares=found.area / 10_000).drop(columns="geometry").to_csv(out)


if __name__ == "__main__":
    kind, layer, first, second = sys.argv[1:]
    read = from_parquet if kind == "parquet" else from_geopackage
    if second.endswith(".csv"):
        once(read, layer, first, second)
    else:
        print(json.dumps({"many": measure(read, layer, first, 5), "one": measure(read, layer, second, 15)}))
