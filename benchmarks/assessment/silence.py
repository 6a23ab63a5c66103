"""How long a job goes without a heartbeat: what HEARTBEAT_TIMEOUT has to exceed.

    python -m benchmarks.assessment.silence [--parcels 5459418]

The longest time between two calls of `progress`, for the batch of 245 sites, for as many sites as one upload may
have, and for one site that covers the layer.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import shapely

from assessment import editions
from assessment.bundle.bundle import open_bundle
from assessment.job import Inputs, Target, carry_out
from assessment.spec import JobSpec
from benchmarks.assessment import data
from benchmarks.assessment.scale import PARCELS
from switchyard.store import open_store


def longest(path: Path, bundle: Path, out: Path) -> tuple[float, float, str]:
    """Seconds of the longest silence, of the whole job, and the step that was silent."""
    began = last = time.monotonic()
    found, before = (0.0, ""), "start"

    def progress(_done: float, step: str) -> None:
        nonlocal last, found, before
        now = time.monotonic()
        found, last, before = max(found, (now - last, before)), now, step

    job = JobSpec("nutrient", editions.load())
    carry_out(job, Inputs(path), open_bundle(bundle), Target(open_store(out.as_uri()), ""), progress=progress)
    return found[0], time.monotonic() - began, found[1]


def batches(folder: Path, most: int) -> dict[str, Path]:
    many, _ = data.sites()
    generator = np.random.default_rng(8)
    corners = generator.uniform((data.WEST, data.SOUTH), (data.EAST, data.NORTH), (most, 2))
    small = shapely.box(*corners.T, *(corners + 30).T)
    whole = shapely.box(data.WEST, data.SOUTH, data.EAST, data.NORTH)
    found = {"245 sites": many}
    for name, shapes in ((f"{most:,} sites", small), ("one site of 3,840 km2", np.array([whole]))):
        found[name] = folder / f"{len(shapes)}.geojson"
        data.write_geojson(found[name], [(shape, data.attributes(k)) for k, shape in enumerate(shapes)])
    return found


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--parcels", type=int, default=PARCELS)
    words.add_argument("--sites", type=int, default=20_000)
    said = words.parse_args()
    bundle = data.bundle(said.parcels)
    with tempfile.TemporaryDirectory() as name:
        for batch, path in batches(Path(name), said.sites).items():
            silent, whole, step = longest(path, bundle, Path(name) / "out")
            print(f"{batch}: {silent:.1f} s of {whole:.1f} s without a heartbeat, after: {step}", flush=True)


if __name__ == "__main__":
    main()
