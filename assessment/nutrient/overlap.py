"""Which pieces of a layer lie on which of our shapes, and with how much area: the inner loop of it all."""

from dataclasses import dataclass

import numpy as np
import shapely

from assessment.arrays import SLIVER, Bools, Floats, Geometries, Ints, distinct
from assessment.bundle.layer import Layer
from assessment.nutrient.cores import shared_area


@dataclass(frozen=True)
class Overlaps:
    """One entry a (shape, piece) that share ground, ordered by shape; `polygon` is the whole piece."""

    shape: Ints
    piece: Ints
    area: Floats
    polygon: Geometries


def overlaps(shapes: Geometries, layer: Layer) -> Overlaps:
    """Areas shared by each shape and the pieces near it.

    A piece inside its shape brings the area it was stored with, a shape inside a piece its own; only where
    edges cross is anything intersected, and most of the time goes there.
    """
    bounds = shapely.bounds(shapes)
    shape, piece = layer.near(bounds)
    wanted, index = np.unique(piece, return_inverse=True)
    whole = layer.polygons(wanted)
    polygon = whole[index]
    shapely.prepare(shapes)
    outer, inner = bounds[shape], layer.levels[0][piece]
    inside = _contains(shapes[shape], polygon, _around(outer, inner))
    around = _around(inner, outer)
    shapely.prepare(whole[distinct(index[around])])
    around = _contains(polygon, shapes[shape], around)
    area = np.where(inside, layer.area[piece], np.where(around, shapely.area(shapes)[shape], 0.0))
    crossing = np.flatnonzero(~(inside | around))
    crossing = crossing[shapely.intersects(shapes[shape[crossing]], polygon[crossing])]
    area[crossing] = shared_area(shapes[shape[crossing]], polygon[crossing])
    kept = area > SLIVER
    return Overlaps(shape[kept], piece[kept], area[kept], polygon[kept])


def _around(outer: Floats, inner: Floats) -> Bools:
    """Whether one box holds the other: only then need the shapes be asked."""
    low, high = outer[:, :2] <= inner[:, :2], outer[:, 2:] >= inner[:, 2:]
    held: Bools = low[:, 0] & low[:, 1] & high[:, 0] & high[:, 1]
    return held


def _contains(outer: Geometries, inner: Geometries, maybe: Bools) -> Bools:
    found = maybe.copy()
    found[maybe] = shapely.contains_properly(outer[maybe], inner[maybe])
    return found
