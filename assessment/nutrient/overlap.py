"""Which pieces of a layer lie on which of our shapes, and with how much area: the inner loop of it all."""

from dataclasses import dataclass

import numpy as np
import shapely

from assessment.arrays import SLIVER, Floats, Geometries, Ints
from assessment.bundle.layer import Layer


@dataclass(frozen=True)
class Overlaps:
    """One entry a (shape, piece) that share ground, ordered by shape; `polygon` is the whole piece."""

    shape: Ints
    piece: Ints
    area: Floats
    polygon: Geometries


def overlaps(shapes: Geometries, layer: Layer) -> Overlaps:
    """Areas shared by each shape and the pieces near it.

    A piece that lies inside its shape brings the area it was stored with; only those that cross the shape's
    edge are intersected, and most of the time goes there.
    """
    shape, piece = layer.near(shapely.bounds(shapes))
    wanted, index = np.unique(piece, return_inverse=True)
    polygon = layer.polygons(wanted)[index]
    shapely.prepare(shapes)
    inside = shapely.contains_properly(shapes[shape], polygon)
    area = np.where(inside, layer.area[piece], 0.0)
    crossing = np.flatnonzero(~inside)
    crossing = crossing[shapely.intersects(shapes[shape[crossing]], polygon[crossing])]
    area[crossing] = shapely.area(shapely.intersection(shapes[shape[crossing]], polygon[crossing]))
    kept = area > SLIVER
    return Overlaps(shape[kept], piece[kept], area[kept], polygon[kept])
