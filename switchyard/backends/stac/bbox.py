"""The box around a GeoJSON geometry."""

import math
from collections.abc import Iterator
from typing import Any

_TYPES = frozenset({"Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon"})


class GeometryError(ValueError):
    """The value is not a geometry that a STAC item can have; the message gives the reason."""


def bbox(geometry: Any) -> list[float] | None:
    """West, south, east, north; None where there is no geometry. Heights are left out."""
    if geometry is None:
        return None
    positions = list(_positions(geometry))
    if not positions:
        raise GeometryError("the geometry has no positions")
    xs, ys = zip(*positions, strict=True)
    if min(xs) < -180 or max(xs) > 180 or min(ys) < -90 or max(ys) > 90:
        raise GeometryError("the geometry is not in degrees of longitude and latitude")
    return [min(xs), min(ys), max(xs), max(ys)]


def _positions(geometry: Any) -> Iterator[tuple[float, float]]:
    if not isinstance(geometry, dict):
        raise GeometryError("the geometry is not a GeoJSON object")
    if geometry.get("type") == "GeometryCollection":
        parts = geometry.get("geometries")
        if not isinstance(parts, list):
            raise GeometryError("the geometry collection has no geometries")
        for part in parts:
            yield from _positions(part)
    elif geometry.get("type") in _TYPES:
        yield from _coordinates(geometry.get("coordinates"))
    else:
        raise GeometryError("the geometry is not of a GeoJSON type")


def _coordinates(value: Any) -> Iterator[tuple[float, float]]:
    if not isinstance(value, list):
        raise GeometryError("the geometry has coordinates that are not a list")
    if value and all(_is_number(number) for number in value):
        if len(value) < 2:
            raise GeometryError("the geometry has a position with one number")
        yield float(value[0]), float(value[1])
        return
    for inner in value:
        yield from _coordinates(inner)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
