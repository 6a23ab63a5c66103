"""The layers of a bundle as shown on a map: outlines by name, clipped to the frame."""

from collections.abc import Mapping

import numpy as np
import shapely

from assessment.bundle.bundle import Bundle
from assessment.bundle.layer import Layer
from assessment.polygonal import only_polygons
from assessment.report.frame import Frame

MOST_PIECES = 4_000
"""The largest number of pieces that a map shows of a layer; more would be illegible and slow."""


def outlines(bundle: Bundle, name: str, column: str, frame: Frame) -> Mapping[str, shapely.Geometry]:
    """By name, the area in the frame; empty if there is none, or too much to draw."""
    layer = bundle.layer(name)
    _, pieces = layer.near(shapely.bounds(np.array([frame.box])))
    if not 0 < len(pieces) <= MOST_PIECES:
        return {}
    return _united(layer, column, pieces, frame)


def _united(
    layer: Layer, column: str, pieces: np.ndarray[tuple[int], np.dtype[np.int64]], frame: Frame
) -> Mapping[str, shapely.Geometry]:
    names = layer.texts(column)
    of_piece = np.array([names[f] or "" for f in layer.feature[pieces].tolist()], dtype=object)
    cut = shapely.intersection(layer.polygons(pieces), frame.box)
    grid = 0.2 / frame.scale
    found = {}
    for name in sorted(set(of_piece.tolist())):
        united = shapely.union_all(cut[of_piece == name], grid_size=grid)
        ground = only_polygons(shapely.simplify(united, grid))
        if not shapely.is_empty(ground):
            found[name] = ground
    return found
