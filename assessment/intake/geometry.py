"""Validate site boundaries one by one: valid polygons on the National Grid, with an area."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import shapely

from assessment import row_warnings as words
from assessment.arrays import Floats, Geometries
from assessment.formats import crs as systems
from assessment.polygonal import MULTIPOLYGON, POLYGON, polygonal
from switchyard.errors import BadInput

BOUNDS = (0.0, 0.0, 700_000.0, 1_300_000.0)
TOO_FAR = 1e12
"""From this size on, coordinates are written with an exponent: they may have 300 digits."""
OFF = 5
"""The possible error, in metres, of a transformation without the Ordnance Survey's shift grid."""

Label = Callable[[int], str]


@dataclass(frozen=True)
class Vetted:
    """Valid 2D polygons in EPSG:27700, and what was changed to get them."""

    geometry: Geometries
    repaired: Mapping[int, str]
    """By position: what was wrong with the boundary and what the repair changed."""
    moved_from: str | None
    """The coordinate system that they were transformed from, if it was not the National Grid."""

    def notes(self) -> dict[int, tuple[str, ...]]:
        """Warnings by RLB_ID."""
        moved = () if self.moved_from is None else (words.CONVERTED(system=self.moved_from, metres=OFF),)
        wanted = range(len(self.geometry)) if moved else self.repaired
        return {k + 1: (*moved, *([self.repaired[k]] if k in self.repaired else [])) for k in wanted}


def vetted(
    geometries: Geometries, crs: str | None, label: Label, *, assumed: bool = False, repairable: int = 10**9
) -> Vetted:
    """Raise BadInput for the first geometry that cannot become a valid polygon on the grid.

    `assumed`: the file names no coordinate system, and its format implies longitude and latitude. An invalid
    boundary of more than `repairable` vertices is not repaired.
    """
    if crs is None:
        raise BadInput("the file declares no coordinate system (CRS); EPSG:27700 or EPSG:4326 is needed")
    bounds = shapely.bounds(geometries)
    _presence(geometries, bounds, label)
    flat = polygonal(_flat(geometries))
    _angles(bounds, crs, label, assumed=assumed)
    moved = systems.to_grid(flat, crs)
    _bounds(bounds if moved is flat else shapely.bounds(moved), label)
    sound, repaired = _repaired(moved, label, repairable)
    return Vetted(sound, repaired, None if systems.is_grid(crs) else systems.name_of(crs))


def _flat(geometries: Geometries) -> Geometries:
    """Remove heights and measures, which few files have."""
    if not (shapely.has_z(geometries) | shapely.has_m(geometries)).any():
        return geometries
    flat: Geometries = shapely.force_2d(geometries)
    return flat


def _presence(geometries: Geometries, bounds: Floats, label: Label) -> None:
    """Check whole arrays; only invalid geometries are examined one by one."""
    for k in np.flatnonzero(shapely.is_missing(geometries) | shapely.is_empty(geometries)).tolist():
        raise BadInput(f"{label(k)}: has no geometry, or one that cannot be read")
    kinds = shapely.get_type_id(geometries)
    for k in np.flatnonzero((kinds != POLYGON) & (kinds != MULTIPOLYGON)).tolist():
        if not _holds_polygons(geometries[k]):
            raise BadInput(f"{label(k)}: is a {geometries[k].geom_type}; Polygon or MultiPolygon is needed")
    for k in np.flatnonzero(~np.isfinite(bounds).all(axis=1)).tolist():
        raise BadInput(f"{label(k)}: has coordinates that are not numbers")


def _holds_polygons(geometry: shapely.Geometry) -> bool:
    """Whether this is a collection of polygons and nothing else."""
    kinds = shapely.get_type_id(shapely.get_parts(geometry))
    is_collection = geometry.geom_type == "GeometryCollection"
    return is_collection and bool(((kinds == POLYGON) | (kinds == MULTIPOLYGON)).all())


def _angles(bounds: Floats, crs: str, label: Label, *, assumed: bool) -> None:
    """Refuse degrees with a metric CRS, and metres with a geographic one: the declared CRS is wrong."""
    degrees = (np.abs(bounds[:, [0, 2]]) <= 180).all(axis=1) & (np.abs(bounds[:, [1, 3]]) <= 90).all(axis=1)
    metric = systems.is_metric(crs)
    wrong = np.flatnonzero(degrees if metric else ~degrees)
    if not len(wrong):
        return
    k = int(wrong[0])
    if metric:
        raise BadInput(f"{label(k)}: the coordinates look like longitude and latitude, but the CRS is metric")
    if assumed:
        raise BadInput(
            f"{label(k)}: the coordinates are not longitude and latitude, as they have to be if the file "
            "names no coordinate system; add a crs member with EPSG:27700, or export it again as GeoPackage"
        )
    raise BadInput(f"{label(k)}: the CRS is geographic, but the coordinates are not longitude and latitude")


def _bounds(bounds: Floats, label: Label) -> None:
    low, high = np.array(BOUNDS[:2]), np.array(BOUNDS[2:])
    outside = ~((bounds[:, :2] >= low).all(axis=1) & (bounds[:, 2:] <= high).all(axis=1))
    if outside.any():
        k = int(np.flatnonzero(outside)[0])
        where = ", ".join(f"{value:,.0f}" if abs(value) < TOO_FAR else f"{value:.1e}" for value in bounds[k])
        hint = "; are latitude and longitude the wrong way round?" if bounds[k, 0] > high[0] * 5 else ""
        raise BadInput(f"{label(k)}: its bounds ({where}) are outside E 0-700,000 N 0-1,300,000{hint}")


def _repaired(geometries: Geometries, label: Label, repairable: int) -> tuple[Geometries, dict[int, str]]:
    """Repair self-crossing and self-touching rings; refuse geometries without area."""
    broken = np.flatnonzero(~shapely.is_valid(geometries))
    sound = geometries.copy()
    said: dict[int, str] = {}
    if len(broken):
        reasons = shapely.is_valid_reason(geometries[broken])
        sizes = shapely.get_num_coordinates(geometries[broken])
        for k in np.flatnonzero(sizes > repairable).tolist():
            raise BadInput(
                f"{label(int(broken[k]))}: the boundary is invalid ({reasons[k]}), and with {sizes[k]:,} "
                "vertices it is too large to repair"
            )
        sound[broken] = polygonal(
            shapely.make_valid(geometries[broken], method="structure", keep_collapsed=False)
        )
        turned = broken[shapely.area(sound[broken]) <= 0]  # holes and shells are confused; their lines decide
        sound[turned] = polygonal(shapely.make_valid(geometries[turned], method="linework"))
        for k, reason in zip(broken.tolist(), reasons, strict=True):
            if shapely.is_empty(sound[k]) or shapely.area(sound[k]) <= 0:
                raise BadInput(f"{label(k)}: the geometry is invalid and cannot be repaired: {reason}")
            said[k] = _repair(reason, abs(float(shapely.area(geometries[k]))), float(shapely.area(sound[k])))
    for k in np.flatnonzero(shapely.area(sound) <= 0).tolist():
        raise BadInput(f"{label(k)}: the geometry has no area")
    return sound, said


def _repair(reason: str, before: float, after: float) -> str:
    """One sentence, with the location of the defect to the metre."""
    what, _, place = reason.partition("[")
    at = " ".join(f"{float(value):.0f}" for value in place.rstrip("]").split()) if place else ""
    defect = what.strip().lower() + (f" at {at}" if at else "")
    return words.REPAIRED(defect=defect, before=f"{before / 10_000:.4f}", after=f"{after / 10_000:.4f}")
