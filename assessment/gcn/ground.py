"""The area of a newt assessment: the sites, and 250 m around them.

Sites and ponds lie on a grid of a tenth of a millimetre, and so do results. Circles and clips on the way do
not: a vertex that is moved onto the grid bends the edge it lies on, and over a kilometre that is a tenth of a
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
    """`sites` one by one, `site` all of them, `buffer` the reach around with, `ring` without them."""

    sites: Geometries
    site: shapely.Geometry
    buffer: shapely.Geometry
    ring: shapely.Geometry


def reach(geometries: Geometries, segments: int) -> shapely.Geometry:
    """Everything within 250 m of any of them, in one piece where it meets."""
    return only_polygons(shapely.union_all(shapely.buffer(geometries, REACH, quad_segs=segments)))


def ground(shapes: Geometries, segments: int) -> Ground:
    sites = snapped(shapes)
    site = only_polygons(shapely.union_all(sites))
    buffer = reach(shapes, segments)
    return Ground(sites, site, buffer, only_polygons(shapely.difference(buffer, site)))


def boxes(geometry: shapely.Geometry) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The bounds of each part, so that sites far apart do not ask for the land between them."""
    found: np.ndarray[tuple[int, int], np.dtype[np.float64]] = shapely.bounds(shapely.get_parts(geometry))
    return found
