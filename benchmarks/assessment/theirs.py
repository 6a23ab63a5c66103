"""Plain geopandas, in a process of its own: the parcels in the bounding box, and an overlay."""

import json
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
    middle = (times + 1) // 2
    return {
        "seconds": sorted(walls[1:])[middle - 1],
        "cpu": sorted(cpus[1:])[middle - 1],
        "best": min(walls[1:]),
        "parcels": len(parcels),
    }


if __name__ == "__main__":
    kind, layer, many, one = sys.argv[1:]
    read = from_parquet if kind == "parquet" else from_geopackage
    if one == "-":
        print(json.dumps({"one": measure(read, layer, many, 1)}))
    else:
        print(json.dumps({"many": measure(read, layer, many, 3), "one": measure(read, layer, one, 7)}))
