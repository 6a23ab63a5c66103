"""Risk zones within reach of the sites."""

from collections.abc import Mapping

import numpy as np
import shapely

from assessment.arrays import distinct
from assessment.bundle.layer import Layer
from assessment.gcn.ground import boxes
from assessment.polygonal import only_polygons

ORDER = ("Red", "Amber", "Green")
"""From the highest risk to the lowest."""


def clipped(zones: Layer, extent: shapely.Geometry) -> Mapping[str, shapely.Geometry]:
    """The area of each kind of zone in the extent, highest risk first; absent kinds are omitted."""
    _, near = zones.near(boxes(extent))
    near = distinct(near)
    polygons = zones.polygons(near)
    names = np.array([zones.texts("RZ")[feature] for feature in zones.feature[near].tolist()], dtype=object)
    shapely.prepare(extent)
    touching = shapely.intersects(extent, polygons)
    found = {}
    for name in ORDER:
        parts = polygons[touching & (names == name)]
        if len(parts):
            united = shapely.union_all(shapely.intersection(parts, extent))
            found[name] = only_polygons(united)
    return found
