"""Small worlds for the tests: polygons and attributes written to real files, built into real bundles."""

import csv
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from assessment import editions
from assessment.bundle.build import build
from assessment.bundle.bundle import Bundle, open_bundle
from assessment.bundle.sources import Sources
from assessment.compute import compute
from assessment.results import Results
from assessment.sites import Sites
from assessment.spec import JobSpec, Mode

Shape = Any
Row = tuple[Shape, Mapping[str, Any]]

CORNER = (600_000.0, 300_000.0)
MOST_BUNDLES = 6  # each has some 75 files mapped, and a process may often open 1,024
_BUNDLES: dict[str, Bundle] = {}


def box(x0: float, y0: float, x1: float, y1: float) -> Shape:
    """A rectangle in metres from the corner of the test worlds."""
    east, north = CORNER
    return shapely.box(east + x0, north + y0, east + x1, north + y1)


def parcel(
    shape: Shape, n: float | None = 20.0, p: float = 0.5, n_homes: float = 10.0, p_homes: float = 1.0
) -> Row:
    return shape, {
        "crome_id": "P",
        "lu_curr_n_coeff": n,
        "lu_curr_p_coeff": p,
        "n_resi_coeff": n_homes,
        "p_resi_coeff": p_homes,
    }


def works(code: Any, **values: Any) -> dict[str, Any]:
    row = {
        "Subcatchment_name": None,
        "WwTW_name": f"Works {code}",
        "WwTW_code": code,
        "Nitrogen_2025_2030": 27,
        "Nitrogen_2030_onwards": 10,
        "Phosphorus_2025_2030": 1,
        "Phosphorus_2030_onwards": 0.25,
    }
    return {**row, **values}


PACKAGE = works("141", WwTW_name="Package Treatment Plant default") | {
    "Nitrogen_2025_2030": 25,
    "Nitrogen_2030_onwards": 25,
    "Phosphorus_2025_2030": 4.5,
    "Phosphorus_2030_onwards": 4.5,
}


def rate(name: str, occupancy: float = 2.4, litres: float = 120) -> dict[str, Any]:
    return {"NN_Catchment": name, "Occ_Rate": occupancy, "Water_Usage_L_Day": litres}


@dataclass(frozen=True)
class World:
    """One kilometre square: a parcel, a works, an authority, a catchment; tests replace what they look at."""

    parcels: Sequence[Row] = field(default_factory=lambda: [parcel(box(0, 0, 1000, 1000))])
    works: Sequence[Row] = field(default_factory=lambda: [(box(0, 0, 1000, 1000), {"WwTw_ID": 7})])
    authorities: Sequence[Row] = field(default_factory=lambda: [(box(0, 0, 1000, 1000), {"NAME": "Shire"})])
    catchments: Sequence[Row] = field(
        default_factory=lambda: [(box(0, 0, 1000, 1000), {"N2K_Site_N": "Mere"})]
    )
    subcatchments: Sequence[Row] = field(
        default_factory=lambda: [(box(0, 0, 1000, 1000), {"OPCAT_NAME": "Brook"})]
    )
    works_table: Sequence[Mapping[str, Any]] = field(default_factory=lambda: [works("7"), PACKAGE])
    rates: Sequence[Mapping[str, Any]] = field(
        default_factory=lambda: [rate("Mere"), rate("Hotel", 1.0, 240)]
    )

    def but(self, **changes: Any) -> "World":
        return replace(self, **changes)

    def moved(self, east: float, north: float) -> "World":
        """The same world somewhere else."""

        def shift(rows: Sequence[Row]) -> list[Row]:
            return [(shapely.transform(shape, lambda c: c + np.array([east, north])), a) for shape, a in rows]

        layers = ("parcels", "works", "authorities", "catchments", "subcatchments")
        return self.but(**{name: shift(getattr(self, name)) for name in layers})

    def bundle(self) -> Bundle:
        """Built from files, opened, and the files removed: what is mapped stays. Equal worlds share one."""
        content = self._content()
        if content not in _BUNDLES:
            while len(_BUNDLES) >= MOST_BUNDLES:
                del _BUNDLES[next(iter(_BUNDLES))]
            with tempfile.TemporaryDirectory(prefix="world-") as name:
                made = self._built(Path(name))
                for layer in made.manifest.layers:
                    made.layer(layer)
                assert made.lookups
            _BUNDLES[content] = made
        return _BUNDLES[content]

    def _content(self) -> str:
        layers = {
            name: [(shapely.to_wkb(shape, hex=True), dict(attributes)) for shape, attributes in rows]
            for name, rows in self._layers().items()
        }
        return repr((layers, self.works_table, self.rates))

    def _built(self, folder: Path) -> Bundle:
        sources = Sources()
        for name, rows in self._layers().items():
            write_geojson(folder / f"{name}.geojson", rows)
            sources.add(name, str(folder / f"{name}.geojson"))
        for name, table in (("WwTw_lookup", self.works_table), ("rates_lookup", self.rates)):
            write_csv(folder / f"{name}.csv", table)
            sources.add(name, str(folder / f"{name}.csv"))
        build(sources, folder / "bundle", lambda _: None)
        return open_bundle(folder / "bundle")

    def _layers(self) -> dict[str, Sequence[Row]]:
        return {
            "coefficient_layer": self.parcels,
            "wwtw_catchments": self.works,
            "lpa_boundaries": self.authorities,
            "nn_catchments": self.catchments,
            "subcatchments": self.subcatchments,
        }

    def assess(self, *shapes: Shape, mode: Mode = "default", edition: str = "C", **columns: Any) -> Results:
        return compute(
            JobSpec("nutrient", editions.load(edition), mode), sites(*shapes, **columns), self.bundle()
        )


def sites(*shapes: Shape, dwellings: Sequence[int] | int = 10, category: str = "allocation") -> Sites:
    geometry = np.empty(len(shapes), dtype=object)
    geometry[:] = shapes
    count = len(shapes)
    homes = (dwellings,) * count if isinstance(dwellings, int) else tuple(dwellings)
    return Sites(
        number=tuple(range(1, count + 1)),
        id=tuple(f"S{k}" for k in range(1, count + 1)),
        name=(None,) * count,
        category=(category,) * count,
        source=("test",) * count,
        dwellings=homes,
        geometry=geometry,
    )


def write_geojson(path: Path, rows: Sequence[Row], crs: str | None = "EPSG:27700") -> None:
    document: dict[str, Any] = {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "geometry": json.loads(shapely.to_geojson(shape)),
                "properties": dict(attributes),
            }
            for shape, attributes in rows
        ],
    }
    if crs:
        document["crs"] = {"type": "name", "properties": {"name": crs}}
    path.write_text(json.dumps(document))


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
