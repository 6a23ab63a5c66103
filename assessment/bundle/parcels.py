"""Synthetic adjacent parcels, for the sample region and benchmarks.

Parcels are quadrilaterals of about a hectare with a bend in each side. Neighbours share identical
vertices, as in a real land-use map, so the layer has neither gaps nor overlaps.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import shapely

from assessment.arrays import Floats, Geometries


@dataclass(frozen=True)
class Ground:
    """The position of the parcels and the length of their sides, in metres."""

    parcels: int
    east: float = 420_000.0
    north: float = 150_000.0
    side: float = 100.0
    seed: int = 6

    @property
    def across(self) -> int:
        """The number of parcels in a row."""
        return max(round(math.sqrt(self.parcels)), 1)


CLASSES = np.array(
    [
        # current N, current P, residential N, residential P (kg/ha/yr)
        [27.1, 0.32, 13.5, 1.21],
        [18.4, 0.21, 12.9, 1.18],
        [9.8, 0.11, 14.2, 1.30],
        [3.0, 0.02, 13.1, 1.25],
        [14.3, 1.32, 14.3, 1.32],
    ]
)


def bands(ground: Ground) -> Iterator[tuple[Geometries, Floats, int]]:
    """Yield the layer row by row: polygons, their four coefficients, the number of the first parcel."""
    generator = np.random.default_rng(ground.seed)
    lower = _nodes(generator, ground, 0)
    for row in range(-(-ground.parcels // ground.across)):
        first = row * ground.across
        upper = _nodes(generator, ground, row + 1)
        sides = _bends(generator, ground, ground.across + 1, row + 0.5, 0.0)
        count = min(ground.across, ground.parcels - first)
        coefficients = CLASSES[generator.integers(0, len(CLASSES), ground.across)]
        yield _parcels(lower, upper, sides)[:count], coefficients[:count], first
        lower = upper


def _nodes(generator: np.random.Generator, ground: Ground, row: float) -> tuple[Floats, Floats]:
    """The corners on one line between rows, and the bends between the corners."""
    across = ground.across
    return _bends(generator, ground, across + 1, row, 0.0), _bends(generator, ground, across, row, 0.5)


def _bends(generator: np.random.Generator, ground: Ground, count: int, row: float, shift: float) -> Floats:
    jitter = generator.uniform(-0.18, 0.18, (count, 2))
    places = np.column_stack((np.arange(count) + shift, np.full(count, row)))
    return np.round(np.array([ground.east, ground.north]) + (places + jitter) * ground.side, 3)


def _parcels(lower: tuple[Floats, Floats], upper: tuple[Floats, Floats], sides: Floats) -> Geometries:
    corners_below, bends_below = lower
    corners_above, bends_above = upper
    around = [
        corners_below[:-1],
        bends_below,
        corners_below[1:],
        sides[1:],
        corners_above[1:],
        bends_above,
        corners_above[:-1],
        sides[:-1],
        corners_below[:-1],
    ]
    polygons: Geometries = shapely.polygons(np.stack(around, axis=1))
    return polygons
