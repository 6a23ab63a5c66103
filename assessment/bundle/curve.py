"""Positions along a Hilbert curve, which places features that are close on the ground close in the file."""

from typing import Any

import numpy as np
import numpy.typing as npt

from assessment.arrays import Floats

Cells = npt.NDArray[np.unsignedinteger[Any]]

ORDER = 16
EXTENT = (0.0, 0.0, 700_000.0, 1_300_000.0)
"""The bounds of the British National Grid; fixed, so that a layer's order never depends on other features."""


def positions(boxes: Floats) -> Cells:
    """The Hilbert position of the centre of each box (xmin, ymin, xmax, ymax)."""
    side = (1 << ORDER) - 1
    x = _cells((boxes[:, 0] + boxes[:, 2]) / 2, EXTENT[0], EXTENT[2], side)
    y = _cells((boxes[:, 1] + boxes[:, 3]) / 2, EXTENT[1], EXTENT[3], side)
    return _hilbert(x, y)


def _cells(values: Floats, low: float, high: float, side: int) -> Cells:
    return np.clip((values - low) / (high - low) * side, 0, side).astype(np.uint32)


def _hilbert(x: Cells, y: Cells) -> Cells:
    """The standard algorithm, from the coarsest quadrant to the finest, on whole arrays."""
    distance: Cells = np.zeros(len(x), dtype=np.uint32)
    for bit in range(ORDER - 1, -1, -1):
        right: Cells = (x >> np.uint32(bit)) & np.uint32(1)
        upper: Cells = (y >> np.uint32(bit)) & np.uint32(1)
        distance = (distance << np.uint32(2)) | ((np.uint32(3) * right) ^ upper)
        x, y = _turn(x, y, right, upper)
    return distance


def _turn(
    x: Cells,
    y: Cells,
    right: Cells,
    upper: Cells,
) -> tuple[Cells, Cells]:
    """Rotate the current quadrant so that the curve is continuous."""
    side = np.uint32((1 << ORDER) - 1)
    lower = upper == 0
    mirrored = lower & (right == 1)
    x = np.where(mirrored, side - x, x)
    y = np.where(mirrored, side - y, y)
    return np.where(lower, y, x), np.where(lower, x, y)
