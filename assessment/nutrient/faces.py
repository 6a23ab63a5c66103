"""Divide the area of overlapping polygons among them, so that each square metre counts once."""

import numpy as np
import shapely

from assessment.arrays import Floats, Geometries
from assessment.polygonal import polygonal


def shared_ground(ground: shapely.Geometry, polygons: Geometries) -> Floats:
    """Each polygon's share of `ground`: if k polygons cover a face, each gets 1/k of its area.

    The faces are those of the arrangement of all outlines, so each is either inside or outside a polygon.
    Nearly identical outlines leave spikes on a face, and GEOS may place its inner point on the outline, so
    the polygons that cover a face are determined by area.
    """
    clipped = polygonal(shapely.intersection(polygons, ground))
    lines = shapely.union_all(shapely.boundary(clipped))
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(lines)))
    polygon, face = shapely.STRtree(faces).query(clipped, predicate="intersects")
    size = shapely.area(faces)
    covered = shapely.area(shapely.intersection(clipped[polygon], faces[face])) > size[face] / 2
    polygon, face = polygon[covered], face[covered]
    share = size[face] / np.bincount(face, minlength=len(faces))[face]
    total: Floats = np.bincount(polygon, weights=share, minlength=len(polygons)).astype(np.float64)
    return total
