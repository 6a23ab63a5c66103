"""The data of the assessment's benchmark, made once into a cache folder: a large layer, its bundle, sites.

With SWITCHYARD_NRF_DATA the sites and the other layers are DEFRA's sample; without it, shapes of the same
number and size are made up.
"""

import json
import math
import os
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from assessment.bundle.build import build
from assessment.bundle.parcels import Ground
from assessment.bundle.sources import Sources, in_folder
from benchmarks.assessment import scale
from benchmarks.assessment.scale import PARCELS

SITES = 245
WEST, SOUTH, EAST, NORTH = 582_000.0, 280_000.0, 642_000.0, 344_000.0


def folder() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(os.environ.get("SWITCHYARD_BENCH_DATA", cache / "switchyard" / "bench" / "assessment"))


def parcels(count: int) -> Path:
    path = folder() / f"parcels-{count}.parquet"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".part")
        scale.write(draft, ground(count))
        draft.rename(path)
    return path


def ground(count: int) -> Ground:
    """Fewer parcels are larger ones: the sites lie on them however many there are."""
    return Ground(count, side=Ground(PARCELS).side * math.sqrt(PARCELS / count))


def geopackage(count: int) -> Path:
    """The same parcels for geopandas: a GeoPackage with a spatial index."""
    import geopandas  # noqa: PLC0415 - the other side of the comparison
    import pyarrow.parquet  # noqa: PLC0415
    import pyogrio  # noqa: PLC0415

    path = folder() / f"parcels-{count}.gpkg"
    if path.exists():
        return path
    draft = path.with_suffix(".part.gpkg")
    draft.unlink(missing_ok=True)
    for part in pyarrow.parquet.ParquetFile(parcels(count)).iter_batches(500_000):
        table = part.to_pandas()
        shapes = shapely.from_wkb(table.pop("geometry").to_numpy())
        frame = geopandas.GeoDataFrame(table.drop(columns="bbox"), geometry=shapes, crs=27700)
        pyogrio.write_dataframe(frame, draft, layer="coefficient_layer", append=draft.exists())
    draft.rename(path)
    return path


def bundle(count: int) -> Path:
    """The bundle, and beside it what building it cost."""
    home = folder() / f"bundle-{count}"
    if (home / "current").exists():
        return home
    sources = reference()
    sources.add("coefficient_layer", str(parcels(count)))
    started = time.perf_counter()
    build(sources, home, lambda _: None)
    cost = {
        "seconds": round(time.perf_counter() - started, 1),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "cpu_seconds": round(time.process_time(), 1),
    }
    (home / "cost.json").write_text(json.dumps(cost))
    return home


def reference() -> Sources:
    if "SWITCHYARD_NRF_DATA" in os.environ:
        return in_folder(Path(os.environ["SWITCHYARD_NRF_DATA"]) / "reference")
    made = folder() / "reference"
    made.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[tuple[Any, dict[str, Any]]]] = {
        "wwtw_catchments": [(_blob(k, 1_500, 150), {"WwTw_ID": 7 + k % 5}) for k in range(60)],
        "lpa_boundaries": [(_blob(100 + k, 16_000, 3_000), {"NAME": f"District {k}"}) for k in range(11)],
        "nn_catchments": [(_blob(200 + k, 18_000, 1_600), {"N2K_Site_N": f"River {k}"}) for k in range(5)],
        "subcatchments": [(_blob(300 + k, 15_000, 1_100), {"OPCAT_NAME": f"Brook {k}"}) for k in range(10)],
    }
    for name, features in rows.items():
        write_geojson(made / f"{name}.geojson", features)
    works = "WwTW_code,WwTW_name,Subcatchment_name,Nitrogen_2025_2030,Nitrogen_2030_onwards,"
    works += "Phosphorus_2025_2030,Phosphorus_2030_onwards\n"
    (made / "WwTw_lookup.csv").write_text(
        works + "".join(f"{7 + k},Works {k},,27,10,1,0.25\n" for k in range(5))
    )
    rates = "NN_Catchment,Occ_Rate,Water_Usage_L_Day\n"
    (made / "rates_lookup.csv").write_text(rates + "".join(f"River {k},2.4,120\n" for k in range(5)))
    return in_folder(made)


def sites() -> tuple[Path, Path]:
    """The batch of 245 sites, and one small site."""
    if "SWITCHYARD_NRF_DATA" in os.environ:
        inputs = Path(os.environ["SWITCHYARD_NRF_DATA"]) / "inputs"
        return inputs / "BnW_cleaned_110925.shp", inputs / "BnW_small_under_1_hectare.geojson"
    many, one = folder() / "sites.geojson", folder() / "site.geojson"
    generator = np.random.default_rng(3)
    sizes = generator.lognormal(4.0, 0.9, SITES)
    rows = [(_blob(400 + k, float(size), 65), attributes(k)) for k, size in enumerate(sizes)]
    write_geojson(many, rows)
    write_geojson(one, [(_blob(999, 9.0, 8), attributes(0))])
    return many, one


def attributes(k: int) -> dict[str, Any]:
    return {"id": f"S{k}", "Name": None, "Dwel_Cat": "allocation", "Source": "bench", "Dwellings": 10 + k}


def _blob(seed: int, size: float, corners: int) -> Any:
    generator = np.random.default_rng(seed)
    angles = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    reach = size * (1 + 0.2 * np.sin(5 * angles + seed) + 0.02 * generator.uniform(-1, 1, corners))
    middle = generator.uniform((WEST, SOUTH), (EAST, NORTH))
    return shapely.polygons(np.column_stack((np.cos(angles) * reach, np.sin(angles) * reach)) + middle)


def write_geojson(path: Path, rows: list[tuple[Any, dict[str, Any]]]) -> None:
    features = [
        {"type": "Feature", "properties": values, "geometry": json.loads(shapely.to_geojson(shape))}
        for shape, values in rows
    ]
    crs = {"type": "name", "properties": {"name": "EPSG:27700"}}
    path.write_text(json.dumps({"type": "FeatureCollection", "crs": crs, "features": features}))
