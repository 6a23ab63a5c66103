"""Divides the area of overlapping polygons among them, so that each square metre counts once."""

import numpy as np
import shapely

from assessment.arrays import Floats, Geometries
from assessment.polygonal import polygonal


def shared_ground(ground: shapely.Geometry, polygons: Geometries) -> Floats:
    """Each polygon's share of `ground`: a face covered by k of them gives each the k-th part of its area.

    The faces are those of the arrangement of all outlines; a face lies in a polygon or outside it, never
    both, so one point inside tells.
    """
    clipped = polygonal(shapely.intersection(polygons, ground))
    lines = shapely.union_all(shapely.boundary(clipped))
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(lines)))
    inside = shapely.point_on_surface(faces)
    tree = shapely.STRtree(inside)
    polygon, face = tree.query(clipped, predicate="intersects")
    covered_by = np.bincount(face, minlength=len(faces))
    share = shapely.area(faces)[face] / covered_by[face]
    total: Floats = np.bincount(polygon, weights=share, minlength=len(polygons)).astype(np.float64)
    return total
