"""Positions for the numbers of sites on a map: legible, without overlaps, and near the site."""

from collections.abc import Iterator, Sequence

import numpy as np

from assessment.arrays import Floats

HIGH = 9.0
WIDE = 7.0
"""The width of a digit, in units, in the widest common font (DejaVu Sans Bold: 6.6), with a margin."""
RINGS = (0.0, 9.0, 14.0, 20.0, 28.0, 38.0, 50.0, 64.0, 80.0, 98.0)
DIRECTIONS = 12
NOTHING: Floats = np.empty((0, 4))
NEAR = 15.0
"""The distance from a site, in units, beyond which a line connects it with its number."""


def places(
    numbers: Sequence[int], points: Floats, frame: tuple[float, float], taken: Floats = NOTHING
) -> Iterator[tuple[Floats, bool]]:
    """The centre of each number, and whether a line has to connect it with its site.

    The first free position around the site is used; if there is none, the one that hides least. `taken`:
    boxes of other drawn elements.
    """
    sizes = np.array([[len(str(number)) * WIDE, HIGH] for number in numbers]) / 2
    offsets = _offsets()
    for k, point in enumerate(points):
        half = sizes[k]
        middles = np.clip(point + offsets, half + 2, np.array(frame) - half - 2)
        boxes = np.hstack((middles - half, middles + half))
        hidden = _covered(boxes, taken) * 100.0 + _dots(boxes, points, k)
        best = int(np.argmin(hidden))
        taken = np.vstack((taken, boxes[best]))
        yield middles[best], bool(np.hypot(*(middles[best] - point)) > NEAR)


def _offsets() -> Floats:
    angles = np.linspace(0, 2 * np.pi, DIRECTIONS, endpoint=False) - np.pi / 2
    turns = [np.column_stack((np.cos(angles) * ring * 1.3, np.sin(angles) * ring)) for ring in RINGS[1:]]
    return np.vstack([np.zeros((1, 2)), *turns])


def _covered(boxes: Floats, taken: Floats) -> Floats:
    """The number of taken boxes that each box intersects."""
    low = boxes[:, None, :2] < taken[None, :, 2:]
    high = boxes[:, None, 2:] > taken[None, :, :2]
    met: Floats = (low & high).all(axis=2).sum(axis=1).astype(np.float64)
    return met


def _dots(boxes: Floats, points: Floats, own: int) -> Floats:
    """The number of other sites that each box would hide."""
    inside = (points[None] > boxes[:, None, :2]) & (points[None] < boxes[:, None, 2:])
    hidden: Floats = inside.all(axis=2).sum(axis=1) - inside[:, own].all(axis=1)
    return hidden.astype(np.float64)
