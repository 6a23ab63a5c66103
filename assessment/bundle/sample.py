"""Write the sample region: source files of a bundle, the bundle built from them, and sites to assess."""

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from assessment.arrays import Floats, Geometries
from assessment.bundle import parcels
from assessment.bundle import region as regions
from assessment.bundle.build import build
from assessment.bundle.region import BROOKS, COUNCILS, HIGH, SOUTH, TOWNS, WEST, WIDE, Region
from assessment.bundle.sources import in_folder
from assessment.output import geopackage
from assessment.polygonal import only_polygons
from assessment.results import Kind, Table

CATCHMENTS = {"River Alder SAC": (0, 1, 2), "Thorn Water SPA": (3, 4)}
"""The brooks that drain to each protected site; the coast belongs to none."""
UNKNOWN_WORKS = "5117"
SIDE = 125.0
FIELDS = {
    # land use: current N, current P, residential N, residential P (kg/ha/yr)
    "arable": (26.4, 0.31, 13.6, 1.22),
    "pasture": (14.9, 0.24, 12.8, 1.19),
    "woodland": (3.0, 0.02, 13.1, 1.25),
    "urban": (13.9, 1.28, 13.9, 1.28),
}


def write(folder: Path, seed: int, say: Callable[[str], None]) -> None:
    """Write all files under `folder`; the same seed makes the same region."""
    sources = folder / "sources"
    sources.mkdir(parents=True, exist_ok=True)
    made = regions.region(seed)
    for name, table in _layers(made, seed).items():
        say(f"{name}: drawing")
        geopackage.write(sources / f"{name}.gpkg", {name: table})
    _write_csv(sources / "WwTw_lookup.csv", _works_rows())
    _write_csv(sources / "rates_lookup.csv", _rate_rows())
    build(in_folder(sources), folder / "bundle", say)
    _write_sites(folder, made, seed)


def _layers(made: Region, seed: int) -> dict[str, Table]:
    codes = [*(str(2101 + k) for k in range(len(TOWNS) - 1)), UNKNOWN_WORKS]
    zones = regions.risk_zones(made)
    return {
        "coefficient_layer": _parcels(made, seed),
        "wwtw_catchments": _table({"WwTw_ID": codes}, shapely.buffer(made.towns, 380.0)),
        "lpa_boundaries": _table({"NAME": COUNCILS}, made.councils),
        "nn_catchments": _table({"N2K_Site_N": list(CATCHMENTS)}, _catchments(made)),
        "subcatchments": _table({"OPCAT_NAME": BROOKS}, made.brooks),
        "gcn_risk_zones": _table({"RZ": list(zones)}, _array(zones.values())),
        "gcn_ponds": _table({"pond": range(1, len(made.ponds) + 1)}, made.ponds),
    }


def _catchments(made: Region) -> Geometries:
    return _array(only_polygons(shapely.union_all(made.brooks[list(parts)])) for parts in CATCHMENTS.values())


def _parcels(made: Region, seed: int) -> Table:
    """Assign land uses by location: houses in towns, scattered woods, pasture along the rivers."""
    across, up = round(WIDE / SIDE), round(HIGH / SIDE)
    ground = parcels.Ground(max(across, up) ** 2, WEST, SOUTH, SIDE, seed)
    polygons = np.concatenate([band for band, _, _ in parcels.bands(ground)])
    polygons = polygons[shapely.intersects(polygons, regions.frame())]
    middles = shapely.centroid(polygons)
    uses = _land_use(made, middles, np.random.default_rng(seed + 1))
    numbers = np.array([FIELDS[use] for use in uses])
    columns: dict[str, Any] = {"crome_id": [f"F{k:06d}" for k in range(len(polygons))], "land_use": uses}
    names = ("lu_curr_n_coeff", "lu_curr_p_coeff", "n_resi_coeff", "p_resi_coeff")
    return _table({**columns, **{name: numbers[:, k].tolist() for k, name in enumerate(names)}}, polygons)


def _land_use(made: Region, middles: Geometries, generator: np.random.Generator) -> list[str]:
    chance = generator.uniform(0, 1, len(middles))
    near_river = shapely.distance(middles, shapely.union_all(made.rivers)) < 450
    in_town = shapely.contains(_prepared(shapely.union_all(made.towns)), middles)
    uses = np.where(chance < 0.12, "woodland", np.where(near_river | (chance > 0.75), "pasture", "arable"))
    found: list[str] = np.where(in_town, "urban", uses).tolist()
    return found


def _prepared(geometry: shapely.Geometry) -> shapely.Geometry:
    shapely.prepare(geometry)
    return geometry


def _works_rows() -> Iterable[dict[str, Any]]:
    permits = [
        (27, 10, 1, 0.25),
        (27, 10, 0.8, 0.25),
        (25, 25, 5, 0.5),
        (27, 27, 8, 8),
        (27, 10, 1, 1),
        ("?", "", 2, 2),
    ]
    for k, (n_now, n_then, p_now, p_then) in enumerate(permits):
        yield _works(
            BROOKS[k], f"{TOWNS[k]} Water Recycling Centre", str(2101 + k), (n_now, n_then, p_now, p_then)
        )
    yield _works("", "Package Treatment Plant default", "141", (25, 25, 4.5, 4.5))


def _works(subcatchment: str, name: str, code: str, permits: tuple[Any, ...]) -> dict[str, Any]:
    names = ("Nitrogen_2025_2030", "Nitrogen_2030_onwards", "Phosphorus_2025_2030", "Phosphorus_2030_onwards")
    row = {"Subcatchment_name": subcatchment, "WwTW_name": name, "WwTW_code": code}
    return {**row, **dict(zip(names, permits, strict=True))}


def _rate_rows() -> Iterable[dict[str, Any]]:
    for name, people, litres in (
        *((catchment, 2.4, 120) for catchment in CATCHMENTS),
        ("Hotel", 1.0, 240),
        ("Student Accommodation", 1.0, 120),
    ):
        yield {"NN_Catchment": name, "Occ_Rate": people, "Water_Usage_L_Day": litres}


def _write_sites(folder: Path, made: Region, seed: int) -> None:
    """Sites at the edges of towns, one across a catchment border, one far from everything."""
    generator = np.random.default_rng(seed + 2)
    middles = [_edge(town, generator) for town in made.towns for _ in range(2)]
    border = shapely.intersection(*shapely.boundary(_catchments(made)))
    middles.append(shapely.get_coordinates(shapely.line_interpolate_point(border, 0.5, normalized=True))[0])
    middles.append(np.array([WEST + WIDE - 350, SOUTH + 350]))
    sizes = generator.uniform(30, 260, len(middles))
    shapes = [_plot(m, size, generator) for m, size in zip(middles, sizes, strict=True)]
    kinds = ["allocation"] * len(shapes)
    kinds[3], kinds[6] = "Hotel", "Student Accommodation"
    rows = [
        {
            "id": f"AD/{2026}/{k + 1:03d}",
            "Name": f"Land at {TOWNS[(k // 2) % len(TOWNS)]} {'north' if k % 2 else 'south'}",
            "Dwel_Cat": kinds[k],
            "Source": "sample",
            "Dwellings": max(int(shapely.area(shape) / 400), 1),
        }
        for k, shape in enumerate(shapes)
    ]
    _write_geojson(folder / "sites.geojson", shapes, rows)
    newts = [
        _plot(shapely.get_coordinates(shapely.centroid(p))[0] + 90, 220, generator)
        for p in _neighbours(made.ponds)
    ]
    _write_geojson(folder / "newt_sites.geojson", newts, [{"id": f"GCN/{k + 1}"} for k in range(len(newts))])
    states = generator.choice(["P", "A", "NS"], len(made.ponds)).tolist()
    ponds = [{"PANS": state, "TmpImp": "T" if k % 9 == 0 else "F"} for k, state in enumerate(states)]
    _write_geojson(folder / "ponds.geojson", list(made.ponds), ponds)


def _neighbours(ponds: Geometries) -> Geometries:
    """Two ponds about 700 m apart."""
    far = shapely.distance(ponds, ponds[len(ponds) // 2])
    return ponds[[len(ponds) // 2, int(np.argmin(np.abs(far - 700)))]]


def _edge(town: shapely.Geometry, generator: np.random.Generator) -> Floats:
    spot = shapely.line_interpolate_point(shapely.boundary(town), generator.uniform(), normalized=True)
    point: Floats = shapely.get_coordinates(spot)[0]
    return point


def _plot(middle: Floats, size: float, generator: np.random.Generator) -> shapely.Geometry:
    """A slightly rotated quadrilateral."""
    turn = generator.uniform(0, np.pi / 2)
    corners = np.array([[-1.0, -0.6], [1.0, -0.7], [0.9, 0.7], [-0.8, 0.6]]) * size
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return shapely.polygons(np.round(corners @ rotation.T + middle, 2))


def _table(columns: Mapping[str, Iterable[Any]], geometry: Geometries) -> Table:
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    kinds: dict[str, Kind] = {name: "real" if name.endswith("_coeff") else "text" for name in columns}
    return Table(kinds, rows, geometry)


def _array(geometries: Iterable[shapely.Geometry]) -> Geometries:
    listed = list(geometries)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def _write_csv(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    listed = list(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(listed[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(listed)


def _write_geojson(path: Path, shapes: list[shapely.Geometry], rows: list[dict[str, Any]]) -> None:
    features = [
        {"type": "Feature", "properties": row, "geometry": json.loads(shapely.to_geojson(shape))}
        for shape, row in zip(shapes, rows, strict=True)
    ]
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::27700"}}
    path.write_text(json.dumps({"type": "FeatureCollection", "crs": crs, "features": features}) + "\n")
