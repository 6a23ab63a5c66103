"""Coordinate systems: conversion to the National Grid and to longitude and latitude."""

import re
from functools import lru_cache
from typing import Any

import numpy as np
import shapely

from assessment.arrays import Geometries
from assessment.formats import lonlat
from switchyard.errors import BadInput

GRID = "EPSG:27700"
_GRID_CODES = re.compile(r"(?i)^(epsg|urn:ogc:def:crs:epsg:[^:]*)[:/]+27700$")


def is_grid(crs: str) -> bool:
    """Whether `crs` is the British National Grid."""
    text = crs.strip()
    if _GRID_CODES.match(text):
        return True
    system = _system(text)
    return bool(system.to_epsg(min_confidence=60) == 27700 or _horizontal(system) == 27700)


def to_grid(geometries: Geometries, crs: str) -> Geometries:
    """Transform geometries from `crs` to EPSG:27700."""
    return geometries if is_grid(crs) else _moved(geometries, crs)


def name_of(crs: str) -> str:
    """A short name of a coordinate system, for messages."""
    system = _system(crs)
    code = system.to_epsg()
    return f"EPSG:{code}" if code else str(system.name)[:60]


def to_lonlat(geometries: Geometries) -> Geometries:
    """Transform National Grid geometries to longitude and latitude."""
    moved: Geometries = shapely.set_coordinates(
        geometries.copy(), lonlat.from_grid(shapely.get_coordinates(geometries))
    )
    return moved


def is_metric(crs: str) -> bool:
    """Whether the coordinates of `crs` are lengths, not angles."""
    return is_grid(crs) or not _system(crs).is_geographic


def grid_projjson() -> dict[str, Any]:
    """EPSG:27700 as PROJJSON, which GeoParquet requires."""
    described: dict[str, Any] = _system(GRID).to_json_dict()
    return described


@lru_cache(maxsize=16)
def _system(crs: str) -> Any:
    import pyproj  # noqa: PLC0415 - most inputs are on the grid and never need it

    if crs.lstrip().startswith("+") or "nadgrids" in crs.casefold():
        raise BadInput(f"the coordinate system {crs[:80]!r} is not accepted; use an EPSG code or WKT")
    try:
        return pyproj.CRS.from_user_input(crs)
    except pyproj.exceptions.CRSError as error:
        raise BadInput(f"the coordinate system {crs[:80]!r} is not known") from error


def _horizontal(system: Any) -> int | None:
    parts = [part.to_epsg() for part in system.sub_crs_list]
    return parts[0] if parts else None


@lru_cache(maxsize=16)
def _transformer(source: str) -> Any:
    import pyproj  # noqa: PLC0415

    try:
        return pyproj.Transformer.from_crs(_system(source), GRID, always_xy=True)
    except pyproj.exceptions.ProjError as error:
        raise BadInput(f"the coordinate system {source[:80]!r} cannot be transformed to {GRID}") from error


def _moved(geometries: Geometries, source: str) -> Geometries:
    coords, index = shapely.get_coordinates(geometries, return_index=True)
    x, y = _transformer(source).transform(coords[:, 0], coords[:, 1])
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        feature = int(index[np.flatnonzero(~(np.isfinite(x) & np.isfinite(y)))[0]]) + 1
        raise BadInput(f"feature {feature}: coordinates cannot be transformed from {source[:40]} to {GRID}")
    moved: Geometries = shapely.set_coordinates(geometries.copy(), np.column_stack((x, y)))
    return moved
