"""A synthetic coefficient layer of production size, for benchmarks: 5.46 million parcels side by side.

Parcels are quadrilaterals of about a hectare with a bend in every side. Neighbours share their vertices to
the last bit, as in a real land-use map, so the layer has neither gaps nor overlaps.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from assessment.arrays import Floats, Geometries
from assessment.formats.crs import grid_projjson

PARCELS = 5_459_418
AT_ONCE = 50_000
"""Parcels in memory, about."""


@dataclass(frozen=True)
class Ground:
    """Where the parcels lie and how long their sides are, in metres."""

    parcels: int = PARCELS
    east: float = 420_000.0
    north: float = 150_000.0
    side: float = 100.0
    seed: int = 6

    @property
    def across(self) -> int:
        """Parcels in a row."""
        return max(round(math.sqrt(self.parcels)), 1)


CLASSES = np.array(
    [
        # current N, current P, residential N, residential P (kg/ha/yr)
        [27.1, 0.32, 13.5, 1.21],
        [18.4, 0.21, 12.9, 1.18],
        [9.8, 0.11, 14.2, 1.30],
        [3.0, 0.02, 13.1, 1.25],
        [14.3, 1.32, 14.3, 1.32],
    ]
)


def bands(ground: Ground) -> Iterator[tuple[Geometries, Floats, int]]:
    """The layer row by row of parcels: polygons, their four coefficients, the number of the first."""
    generator = np.random.default_rng(ground.seed)
    lower = _nodes(generator, ground, 0)
    for row in range(-(-ground.parcels // ground.across)):
        first = row * ground.across
        upper = _nodes(generator, ground, row + 1)
        sides = _bends(generator, ground, ground.across + 1, row + 0.5, 0.0)
        count = min(ground.across, ground.parcels - first)
        coefficients = CLASSES[generator.integers(0, len(CLASSES), ground.across)]
        yield _parcels(lower, upper, sides)[:count], coefficients[:count], first
        lower = upper


def _nodes(generator: np.random.Generator, ground: Ground, row: float) -> tuple[Floats, Floats]:
    """The corners on one line between rows, and the bends between them."""
    across = ground.across
    return _bends(generator, ground, across + 1, row, 0.0), _bends(generator, ground, across, row, 0.5)


def _bends(generator: np.random.Generator, ground: Ground, count: int, row: float, shift: float) -> Floats:
    jitter = generator.uniform(-0.18, 0.18, (count, 2))
    places = np.column_stack((np.arange(count) + shift, np.full(count, row)))
    return np.round(np.array([ground.east, ground.north]) + (places + jitter) * ground.side, 3)


def _parcels(lower: tuple[Floats, Floats], upper: tuple[Floats, Floats], sides: Floats) -> Geometries:
    corners_below, bends_below = lower
    corners_above, bends_above = upper
    around = [
        corners_below[:-1],
        bends_below,
        corners_below[1:],
        sides[1:],
        corners_above[1:],
        bends_above,
        corners_above[:-1],
        sides[:-1],
        corners_below[:-1],
    ]
    polygons: Geometries = shapely.polygons(np.stack(around, axis=1))
    return polygons


def write(path: Path, ground: Ground) -> None:
    """The layer as GeoParquet, with bounding boxes as a covering."""
    import pyarrow  # noqa: PLC0415 - only this command needs it
    import pyarrow.parquet  # noqa: PLC0415

    schema = _schema(pyarrow)
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        rows: list[tuple[Geometries, Floats, int]] = []
        for band in bands(ground):
            rows.append(band)
            if sum(len(polygons) for polygons, _, _ in rows) >= AT_ONCE:
                writer.write_table(_table(pyarrow, schema, rows))
                rows = []
        if rows:
            writer.write_table(_table(pyarrow, schema, rows))


def _schema(pyarrow: Any) -> Any:
    numbers = ["lu_curr_n_coeff", "lu_curr_p_coeff", "n_resi_coeff", "p_resi_coeff"]
    box = pyarrow.struct([(side, pyarrow.float64()) for side in ("xmin", "ymin", "xmax", "ymax")])
    covering = {"bbox": {side: ["bbox", side] for side in ("xmin", "ymin", "xmax", "ymax")}}
    about = {
        "encoding": "WKB",
        "geometry_types": ["Polygon"],
        "crs": grid_projjson(),
        "covering": covering,
    }
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": about}}
    fields = [("crome_id", pyarrow.string()), *((name, pyarrow.float64()) for name in numbers)]
    schema = pyarrow.schema([*fields, ("bbox", box), ("geometry", pyarrow.binary())])
    return schema.with_metadata({"geo": json.dumps(geo)})


def _table(pyarrow: Any, schema: Any, rows: list[tuple[Geometries, Floats, int]]) -> Any:
    polygons = np.concatenate([polygons for polygons, _, _ in rows])
    coefficients = np.concatenate([values for _, values, _ in rows])
    first = rows[0][2]
    bounds = shapely.bounds(polygons)
    box = pyarrow.StructArray.from_arrays(
        [pyarrow.array(bounds[:, k]) for k in range(4)], ["xmin", "ymin", "xmax", "ymax"]
    )
    names = [f"P{first + k:08d}" for k in range(len(polygons))]
    arrays = [pyarrow.array(names), *(pyarrow.array(coefficients[:, k]) for k in range(4)), box]
    return pyarrow.Table.from_arrays(
        [*arrays, pyarrow.array(shapely.to_wkb(polygons), pyarrow.binary())], schema=schema
    )
