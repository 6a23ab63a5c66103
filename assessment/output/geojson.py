"""Results as GeoJSON features in longitude and latitude, properties in lower case."""

import json
from pathlib import Path
from typing import Any

import shapely

from assessment.formats.crs import to_lonlat
from assessment.results import Table

DECIMALS = 7
"""Decimals of a degree: about a centimetre."""


def features(table: Table) -> list[dict[str, Any]]:
    """One feature per row, each with its geometry; coordinates are rounded to the centimetre."""
    shapes = json.loads(f"[{','.join(shapely.to_geojson(_rounded(table)).tolist())}]")
    return [
        {
            "type": "Feature",
            "geometry": shape,
            "properties": {column.lower(): row[column] for column in table.columns},
        }
        for shape, row in zip(shapes, table.rows, strict=True)
    ]


def _rounded(table: Table) -> Any:
    moved = to_lonlat(shapely.set_precision(table.geometry, 0.0))
    return shapely.transform(moved, lambda coords: coords.round(DECIMALS))


def write(path: Path, table: Table) -> None:
    collection = {"type": "FeatureCollection", "features": features(table)}
    path.write_text(json.dumps(collection, ensure_ascii=False) + "\n", encoding="utf-8")
