"""Makes polygons of rings: clockwise ones are shells, the others holes."""

from collections.abc import Sequence

import numpy as np
import shapely

from assessment.arrays import Floats
from switchyard.errors import BadInput


def assemble(rings: Sequence[Floats], number: int) -> shapely.Geometry:
    """A Polygon or MultiPolygon; a hole outside every shell is a shell with the wrong orientation."""
    if any(len(ring) < 4 for ring in rings):
        raise BadInput(f"feature {number}: has a ring of fewer than four points")
    if not all(np.isfinite(ring).all() for ring in rings):
        raise BadInput(f"feature {number}: has coordinates that are not numbers")
    if len(rings) == 1:
        return shapely.polygons(rings[0])
    clockwise = [bool(_signed_area(ring) <= 0) for ring in rings]
    shells = [ring for ring, is_shell in zip(rings, clockwise, strict=True) if is_shell]
    holes: list[list[Floats]] = [[] for _ in shells]
    faces = np.array([shapely.Polygon(shell) for shell in shells], dtype=object)
    shapely.prepare(faces)
    loose: list[Floats] = []
    for ring in (r for r, is_shell in zip(rings, clockwise, strict=True) if not is_shell):
        home = _home(ring, faces)
        (loose if home is None else holes[home]).append(ring)
    polygons = [shapely.Polygon(shell, inner) for shell, inner in zip(shells, holes, strict=True)]
    polygons += [shapely.polygons(ring) for ring in loose]
    return polygons[0] if len(polygons) == 1 else shapely.MultiPolygon(polygons)


def _signed_area(ring: Floats) -> float:
    x, y = ring[:, 0] - ring[0, 0], ring[:, 1] - ring[0, 1]
    return float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]) / 2)


def _home(hole: Floats, faces: np.ndarray[tuple[int], np.dtype[np.object_]]) -> int | None:
    """The smallest shell around the hole."""
    holders = np.flatnonzero(shapely.covers(faces, shapely.Polygon(hole)))
    if not len(holders):
        return None
    return int(holders[np.argmin(shapely.area(faces[holders]))])
