"""Find the pieces of a layer that overlap given shapes, and the areas: the innermost loop."""

from dataclasses import dataclass

import numpy as np
import shapely

from assessment.arrays import SLIVER, Bools, Floats, Geometries, Ints, distinct
from assessment.bundle.layer import Layer
from assessment.nutrient.cores import shared_area

BLOCK = 50_000
"""Pairs per batch: polygons take memory, and a site may be as large as a county."""


@dataclass(frozen=True)
class Overlaps:
    """One entry per overlapping (shape, piece), ordered by shape; `query` is the index of the shape."""

    query: Ints
    piece: Ints
    area: Floats


def overlaps(shapes: Geometries, layer: Layer) -> Overlaps:
    """The areas shared by each shape and the pieces near it."""
    shape, piece = layer.near(shapely.bounds(shapes))
    shapely.prepare(shapes)
    area = np.empty(len(shape))
    for start in range(0, len(shape), BLOCK):
        block = slice(start, start + BLOCK)
        area[block] = _shared(shapes[shape[block]], layer, piece[block])
    kept = area > SLIVER
    return Overlaps(shape[kept], piece[kept], area[kept])


def _shared(shapes: Geometries, layer: Layer, piece: Ints) -> Floats:
    """The area that each shape has in common with its piece.

    For a piece inside the shape this is its stored area, for a shape inside the piece the shape's own area.
    An intersection is computed only where edges cross; this takes most of the time.
    """
    wanted, index = np.unique(piece, return_inverse=True)
    whole = layer.polygons(wanted)
    polygon = whole[index]
    outer, inner = shapely.bounds(shapes), layer.levels[0][piece]
    inside = _contains(shapes, polygon, _around(outer, inner))
    around = _around(inner, outer)
    shapely.prepare(whole[distinct(index[around])])
    around = _contains(polygon, shapes, around)
    area = np.where(inside, layer.area[piece], np.where(around, shapely.area(shapes), 0.0))
    crossing = np.flatnonzero(~(inside | around))
    crossing = crossing[shapely.intersects(shapes[crossing], polygon[crossing])]
    area[crossing] = shared_area(shapes[crossing], polygon[crossing])
    return area


def _around(outer: Floats, inner: Floats) -> Bools:
    """Whether the outer box contains the inner one; only then are the shapes tested."""
    low, high = outer[:, :2] <= inner[:, :2], outer[:, 2:] >= inner[:, 2:]
    held: Bools = low[:, 0] & low[:, 1] & high[:, 0] & high[:, 1]
    return held


def _contains(outer: Geometries, inner: Geometries, maybe: Bools) -> Bools:
    found = maybe.copy()
    found[maybe] = shapely.contains_properly(outer[maybe], inner[maybe])
    return found
