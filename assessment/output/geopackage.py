"""Results as a GeoPackage in EPSG:27700: a feature layer for rows with a geometry, a table for others."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from assessment.formats.crs import GRID
from assessment.results import Kind, Table

_TYPES: Mapping[Kind, tuple[Any, Any]] = {
    "integer": (np.int64, 0),
    "real": (np.float64, 0.0),
    "text": (object, None),
    "list": (object, None),
}


def write(path: Path, tables: Mapping[str, Table]) -> None:
    import pyogrio.raw  # noqa: PLC0415 - only this format needs it

    path.unlink(missing_ok=True)
    for name, table in tables.items():
        columns = [_column(kind, table.values(column)) for column, kind in table.columns.items()]
        shapes = None if table.geometry is None else shapely.to_wkb(_many(table.geometry))
        pyogrio.raw.write(
            path, shapes, [values for values, _ in columns], [_free(column) for column in table.columns],
            field_mask=[mask for _, mask in columns], layer=name, driver="GPKG",
            geometry_type=None if shapes is None else "MultiPolygon", crs=None if shapes is None else GRID,
        )  # fmt: skip


def _column(kind: Kind, values: list[Any]) -> tuple[Any, Any]:
    """Values of one type, and a mask of the nulls."""
    dtype, nothing = _TYPES[kind]
    clean = [nothing if value is None else value for value in values]
    return np.array(clean, dtype=dtype), np.array([value is None for value in values], dtype=bool)


def _many(shapes: Any) -> Any:
    """Convert all to MultiPolygons, the declared type of the layer."""
    single = np.flatnonzero(shapely.get_type_id(shapes) == int(shapely.GeometryType.POLYGON))
    many = shapes.copy()
    many[single] = [shapely.multipolygons([shape]) for shape in shapes[single]]
    return many


def _free(column: str) -> str:
    """Rename a result column called `fid`, which is the name of the key."""
    return f"{column}_" if column.lower() in ("fid", "geom") else column
