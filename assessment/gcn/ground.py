"""The area of a newt assessment: the sites, and 250 m around them.

Sites, ponds and results are snapped to a grid of a tenth of a millimetre. Intermediate circles and clips are
not: moving a vertex onto the grid bends its edge, which over a kilometre changes the area by a tenth of a
square metre.
"""

from dataclasses import dataclass

import numpy as np
import shapely

from assessment.arrays import Geometries
from assessment.polygonal import only_polygons, snapped

REACH = 250.0


@dataclass(frozen=True)
class Ground:
    """`sites` are separate, `site` is their union, `buffer` the area in reach, `ring` that without `site`."""

    sites: Geometries
    site: shapely.Geometry
    buffer: shapely.Geometry
    ring: shapely.Geometry


def reach(geometries: Geometries, segments: int) -> shapely.Geometry:
    """Everything within 250 m of any geometry; overlapping buffers are merged."""
    return only_polygons(shapely.union_all(shapely.buffer(geometries, REACH, quad_segs=segments)))


def ground(shapes: Geometries, segments: int) -> Ground:
    sites = snapped(shapes)
    site = only_polygons(shapely.union_all(sites))
    buffer = reach(shapes, segments)
    return Ground(sites, site, buffer, only_polygons(shapely.difference(buffer, site)))


def boxes(geometry: shapely.Geometry) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The bounds of each part, so that distant sites do not include the land between them."""
    found: np.ndarray[tuple[int, int], np.dtype[np.float64]] = shapely.bounds(shapely.get_parts(geometry))
    return found
