"""Conversion from metres on the ground to units of a drawing."""

from dataclasses import dataclass

import numpy as np
import shapely

from assessment.arrays import Bools, Floats, Geometries
from assessment.polygonal import only_polygons

WIDTH = 960.0
HEIGHT = 620.0
SMALLEST = 900.0
"""The minimum width and height of a map in metres, so that even a single house has surroundings."""
MARGIN = 0.08
MANY = 40
"""The number of sites from which a map may have a second map of its densest part."""
MOST = 500
"""The largest number of sites with numbers on a map: the time to place them grows with its square."""
CLOSER = 5.0
"""The magnification of the second map."""


@dataclass(frozen=True)
class Frame:
    """The area that a map shows; y points downwards in the drawing."""

    west: float
    south: float
    scale: float

    @property
    def box(self) -> shapely.Geometry:
        return shapely.box(
            self.west, self.south, self.west + WIDTH / self.scale, self.south + HEIGHT / self.scale
        )

    def points(self, coords: Floats) -> Floats:
        x = (coords[:, 0] - self.west) * self.scale
        y = HEIGHT - (coords[:, 1] - self.south) * self.scale
        return np.column_stack((x, y))

    def holds(self, coords: Floats) -> Bools:
        """Whether each point is in the frame."""
        x, y = self.points(coords).T
        held: Bools = (x >= 0) & (x <= WIDTH) & (y >= 0) & (y <= HEIGHT)
        return held

    def visible(self, geometries: Geometries) -> Geometries:
        """The parts of geometries in the frame, simplified to visible detail."""
        simple = shapely.simplify(geometries, 0.4 / self.scale, preserve_topology=False)
        cut = shapely.intersection(shapely.make_valid(simple), self.box)
        shown = np.empty(len(cut), dtype=object)
        shown[:] = [only_polygons(geometry) for geometry in cut]
        return shown


def around(geometries: Geometries) -> Frame:
    """A frame with the geometries in the middle and some land around them."""
    west, south, east, north = shapely.total_bounds(geometries).tolist()
    wide = max(east - west, SMALLEST, (north - south) * WIDTH / HEIGHT) * (1 + 2 * MARGIN)
    wide = max(wide, SMALLEST * WIDTH / HEIGHT)
    scale = WIDTH / wide
    return Frame((west + east - wide) / 2, (south + north - HEIGHT / scale) / 2, scale)


def densest(frame: Frame, points: Floats) -> Frame | None:
    """The part of a frame that contains most of many points; None if no part contains a quarter of them."""
    if not MANY <= len(points) <= MOST:
        return None
    scale = frame.scale * CLOSER
    corners = points - np.array([WIDTH, HEIGHT]) / scale / 2
    parts = [Frame(float(west), float(south), scale) for west, south in corners]
    counts = [int(part.holds(points).sum()) for part in parts]
    best = int(np.argmax(counts))
    return parts[best] if counts[best] * 4 >= len(points) else None


def round_length(longest: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that does not exceed `longest`."""
    power = 10.0 ** np.floor(np.log10(longest))
    return float(max(step * power for step in (1, 2, 5) if step * power <= longest))
