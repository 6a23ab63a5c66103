"""Validates site boundaries one by one: valid polygons on the National Grid, with an area."""

from collections.abc import Callable

import numpy as np
import shapely

from assessment.arrays import Geometries
from assessment.formats import crs as systems
from assessment.polygonal import only_polygons, polygonal
from switchyard.errors import BadInput

BOUNDS = (0.0, 0.0, 700_000.0, 1_300_000.0)
KINDS = ("Polygon", "MultiPolygon")

Label = Callable[[int], str]


def vetted(geometries: Geometries, crs: str | None, label: Label) -> Geometries:
    """The geometries as valid 2D polygons in EPSG:27700; the first that cannot be is a BadInput naming it."""
    if crs is None:
        raise BadInput("the file declares no coordinate system (CRS); EPSG:27700 or EPSG:4326 is needed")
    for k, geometry in enumerate(geometries):
        _presence(geometry, label(k))
    flat = shapely.force_2d(geometries)
    _angles(flat, crs, label)
    moved = systems.to_grid(flat, crs)
    _bounds(moved, label)
    return _repaired(moved, label)


def _presence(geometry: shapely.Geometry | None, name: str) -> None:
    if geometry is None or shapely.is_empty(geometry):
        raise BadInput(f"{name}: has no geometry")
    if geometry.geom_type not in KINDS and only_polygons(geometry) is not geometry:
        raise BadInput(f"{name}: is a {geometry.geom_type}; Polygon or MultiPolygon is needed")
    if not np.isfinite(shapely.bounds(geometry)).all():
        raise BadInput(f"{name}: has coordinates that are not numbers")


def _angles(geometries: Geometries, crs: str, label: Label) -> None:
    """Degrees with a metric CRS, or metres with a geographic one: the declared CRS is wrong."""
    bounds = shapely.bounds(geometries)
    degrees = (np.abs(bounds[:, [0, 2]]) <= 180).all(axis=1) & (np.abs(bounds[:, [1, 3]]) <= 90).all(axis=1)
    metric = systems.is_metric(crs)
    wrong = np.flatnonzero(degrees if metric else ~degrees)
    if not len(wrong):
        return
    k = int(wrong[0])
    if metric:
        raise BadInput(f"{label(k)}: the coordinates look like longitude and latitude, but the CRS is metric")
    raise BadInput(f"{label(k)}: the CRS is geographic, but the coordinates are not longitude and latitude")


def _bounds(geometries: Geometries, label: Label) -> None:
    bounds = shapely.bounds(geometries)
    low, high = np.array(BOUNDS[:2]), np.array(BOUNDS[2:])
    outside = ~((bounds[:, :2] >= low).all(axis=1) & (bounds[:, 2:] <= high).all(axis=1))
    if outside.any():
        k = int(np.flatnonzero(outside)[0])
        where = ", ".join(f"{value:,.0f}" for value in bounds[k])
        raise BadInput(f"{label(k)}: its bounds ({where}) are outside E 0-700,000 N 0-1,300,000")


def _repaired(geometries: Geometries, label: Label) -> Geometries:
    """Repairs self-crossing and self-touching rings; a geometry without area is refused."""
    broken = np.flatnonzero(~shapely.is_valid(geometries))
    sound = geometries.copy()
    if len(broken):
        reasons = shapely.is_valid_reason(geometries[broken])
        sound[broken] = polygonal(
            shapely.make_valid(geometries[broken], method="structure", keep_collapsed=False)
        )
        for k, reason in zip(broken.tolist(), reasons, strict=True):
            if shapely.is_empty(sound[k]) or shapely.area(sound[k]) <= 0:
                raise BadInput(f"{label(k)}: the geometry is invalid and cannot be repaired: {reason}")
    for k in np.flatnonzero(shapely.area(sound) <= 0).tolist():
        raise BadInput(f"{label(k)}: the geometry has no area")
    return sound
