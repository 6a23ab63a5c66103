"""Split features into pieces: valid, single polygons, small enough to be cheap to process."""

from dataclasses import dataclass

import numpy as np
import shapely

from assessment.arrays import Geometries, Ints, distinct
from assessment.polygonal import polygonal, snapped

LARGEST = 256
"""Vertices per piece. A county's outline has 10^5; a site at its edge should only process a few hundred."""


@dataclass(frozen=True)
class Pieces:
    polygon: Geometries
    feature: Ints
    repaired: int
    empty: int


def pieces(geometries: Geometries, *, on_grid: bool = False) -> Pieces:
    """The pieces of each geometry, in order; `feature` counts from 0 within these geometries."""
    flat = shapely.force_2d(geometries)
    missing = shapely.is_missing(flat) | shapely.is_empty(flat)
    broken = np.flatnonzero(~missing & ~shapely.is_valid(flat))
    if len(broken):
        flat[broken] = shapely.make_valid(flat[broken], method="structure", keep_collapsed=False)
    present = np.flatnonzero(~missing)
    whole = snapped(flat[present]) if on_grid else polygonal(flat[present])
    polygons, index = shapely.get_parts(whole, return_index=True)
    feature = present[index]
    kept = ~shapely.is_empty(polygons)
    polygons, feature = _cut(polygons[kept], feature[kept])
    return Pieces(polygons, feature, len(broken), len(flat) - len(distinct(feature)))


def _cut(polygons: Geometries, feature: Ints) -> tuple[Geometries, Ints]:
    """Replace large polygons by their parts; leave the others unchanged."""
    large = shapely.get_num_coordinates(polygons) > LARGEST
    if not large.any():
        return polygons, feature
    parts: list[shapely.Geometry] = []
    counts = np.ones(len(polygons), dtype=np.int64)
    for k, polygon in enumerate(polygons):
        of_this = subdivide(polygon) if large[k] else [polygon]
        counts[k] = len(of_this)
        parts += of_this
    cut = np.empty(len(parts), dtype=object)
    cut[:] = parts
    return cut, np.repeat(feature, counts)


def subdivide(polygon: shapely.Geometry, largest: int = LARGEST) -> list[shapely.Geometry]:
    """Halve a polygon along its longer side until no part has more than `largest` vertices."""
    done: list[shapely.Geometry] = []
    waiting = [polygon]
    while waiting:
        part = waiting.pop()
        if shapely.get_num_coordinates(part) <= largest:
            done.append(part)
        else:
            waiting += _halves(part)
    return done


def _halves(polygon: shapely.Geometry) -> list[shapely.Geometry]:
    x0, y0, x1, y1 = shapely.bounds(polygon).tolist()
    if x1 - x0 >= y1 - y0:
        middle = (x0 + x1) / 2
        boxes = [shapely.box(x0, y0, middle, y1), shapely.box(middle, y0, x1, y1)]
    else:
        middle = (y0 + y1) / 2
        boxes = [shapely.box(x0, y0, x1, middle), shapely.box(x0, middle, x1, y1)]
    halves = polygonal(shapely.intersection(polygon, np.array(boxes)))
    return [part for part in shapely.get_parts(halves) if not shapely.is_empty(part)]
