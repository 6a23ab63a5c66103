"""Reading uploads: GDAL in a process with limits, beside the readers of our own that it replaced.

    python -m benchmarks.assessment.reading [--polygons 150000]

The old readers are those of commit 3a22754, taken from the repository's history into the cache folder. Prints the
CPU time that a warm single-site upload costs in the child, how many times as fast a large file is read, and whether
the geometries of DEFRA's inputs (SWITCHYARD_NRF_DATA) are equal byte for byte.
"""

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import shapely

from assessment.intake.reader import Reader
from assessment.intake.upload import nutrient_sites
from benchmarks.assessment import data
from benchmarks.report import Figure, publish

BEFORE = "3a22754"
MOST = 200_000  # more than an upload may have
OLD = """
import hashlib, json, sys, time
from pathlib import Path
import shapely
from assessment.intake import accept
accept.MOST_FEATURES = 200_000
found = {}
for path in sys.argv[1:]:
    began, cpu = time.perf_counter(), time.process_time()
    sites = accept.nutrient_sites(Path(path))
    taken = time.perf_counter() - began, time.process_time() - cpu
    found[path] = *taken, hashlib.sha256(b"".join(shapely.to_wkb(sites.geometry))).hexdigest()
print(json.dumps(found))
"""


def before() -> Path:
    """The code of that commit, unpacked once."""
    folder = data.folder() / f"code-{BEFORE}"
    if not folder.exists():
        command = ["git", "archive", "--format=tar", BEFORE, "assessment", "switchyard"]
        packed = subprocess.run(command, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
    return folder


def old(paths: list[Path]) -> dict[str, tuple[float, float, str]]:
    environment = {**os.environ, "PYTHONPATH": str(before())}
    command = [sys.executable, "-c", OLD, *map(str, paths)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=before())
    found: dict[str, tuple[float, float, str]] = json.loads(done.stdout)
    return found


def new(reader: Reader, path: Path) -> tuple[float, float, str]:
    """Seconds and CPU seconds of the child, and the hash of the geometries."""
    began = time.perf_counter()
    answer = reader.read(path, "nutrient", most=MOST)
    taken = time.perf_counter() - began
    return taken, reader.cpu, sha256(b"".join(shapely.to_wkb(answer.geometry))).hexdigest()


def large(folder: Path, count: int) -> list[Path]:
    """The same sites as a shapefile and as a GeoPackage."""
    corners = np.random.default_rng(4).uniform((582_000, 280_000), (642_000, 344_000), (count, 2))
    rows = {name: [data.attributes(k)[name] for k in range(count)] for name in data.attributes(0)}
    frame = geopandas.GeoDataFrame(rows, geometry=shapely.box(*corners.T, *(corners + 25).T), crs=27700)
    paths = [folder / "sites.shp", folder / "sites.gpkg"]
    for path in paths:
        frame.to_file(path)
    return paths


def warm(reader: Reader, path: Path, times: int = 25) -> float:
    """Median CPU milliseconds in a child that waits for its file."""
    return statistics.median(new(reader, path)[1] for _ in range(times)) * 1000


def inputs() -> list[Path]:
    if "SWITCHYARD_NRF_DATA" not in os.environ:
        return []
    folder = Path(os.environ["SWITCHYARD_NRF_DATA"]) / "inputs"
    names = ("BnW_cleaned_110925.shp", "BnW_small_under_1_hectare.geojson", "BnW_small_under_1_hectare.zip")
    return [folder / name for name in names]


def measure(count: int) -> dict[str, Any]:
    reader = Reader(spare=True)
    reader.start()
    with tempfile.TemporaryDirectory() as name:
        paths = large(Path(name), count)
        theirs = old([*paths, *inputs()])
        ours = {str(path): new(reader, path) for path in (*paths, *inputs())}
    _, one = data.sites()
    assert len(nutrient_sites(one, None, reader)) == 1
    found = {
        "polygons": count,
        "one site, ms of CPU": round(warm(reader, one), 1),
        "times as fast": {path.suffix: round(theirs[str(path)][0] / ours[str(path)][0], 1) for path in paths},
        "equal geometries": {Path(path).name: ours[path][2] == theirs[path][2] for path in ours},
    }
    reader.close()
    return found


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--polygons", type=int, default=150_000)
    found = measure(words.parse_args().polygons)
    publish(
        "P6 reading uploads",
        [
            Figure("one site, warm: CPU of the child", found["one site, ms of CPU"], "ms", at_most=15),
            *(
                Figure(
                    f"{found['polygons']:,} polygons, {kind}: times as fast as {BEFORE}",
                    times,
                    "x",
                    at_least=3,
                )
                for kind, times in found["times as fast"].items()
            ),
        ],
    )
    print(json.dumps(found, indent=2))
    assert all(found["equal geometries"].values()), "geometries differ from those of the old readers"


if __name__ == "__main__":
    main()
