"""Extract polygons from the result of an overlay or a repair."""

import numpy as np
import shapely

from assessment.arrays import Geometries

GRID = 0.0001
POLYGON, MULTIPOLYGON = int(shapely.GeometryType.POLYGON), int(shapely.GeometryType.MULTIPOLYGON)


def polygonal(geometries: Geometries) -> Geometries:
    """The polygons of each geometry; lines and points, which have no area, are dropped."""
    kinds = shapely.get_type_id(geometries)
    mixed = np.flatnonzero((kinds != POLYGON) & (kinds != MULTIPOLYGON))
    if not len(mixed):
        return geometries
    cleaned = geometries.copy()
    for k in mixed.tolist():
        cleaned[k] = only_polygons(geometries[k])
    return cleaned


def only_polygons(geometry: shapely.Geometry) -> shapely.Geometry:
    """The polygons of one geometry, as a Polygon or MultiPolygon; empty if it has none."""
    if geometry is None or shapely.get_type_id(geometry) in (POLYGON, MULTIPOLYGON):
        return geometry
    parts = _flat(geometry)
    return parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)


def _flat(geometry: shapely.Geometry) -> list[shapely.Geometry]:
    kind = shapely.get_type_id(geometry)
    if kind == POLYGON:
        return [geometry]
    if kind in (MULTIPOLYGON, int(shapely.GeometryType.GEOMETRYCOLLECTION)):
        return [part for child in shapely.get_parts(geometry) for part in _flat(child)]
    return []


def snapped(geometries: Geometries) -> Geometries:
    """Valid polygons, snapped to the grid of a tenth of a millimetre."""
    on_grid: Geometries = polygonal(shapely.set_precision(shapely.make_valid(geometries), GRID))
    return on_grid
