"""Type aliases for the arrays used throughout this package."""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Geometries = npt.NDArray[Any]  # of shapely geometries

SLIVER = 1e-4
"""Square metres below which an overlap is floating-point noise, not area."""


def spans(starts: Ints, counts: Ints) -> Ints:
    """The indices start..start+count-1 of each span, concatenated."""
    total = int(counts.sum())
    before = np.concatenate(([0], np.cumsum(counts)[:-1])) if len(counts) else counts
    return np.arange(total, dtype=np.int64) + np.repeat(starts - before, counts)


def distinct(values: Ints) -> Ints:
    """The sorted distinct values. np.unique would import numpy.ma, which takes a fifth of a cold start."""
    found: Ints = np.unique(values, return_index=True)[0]
    return found


def offsets(counts: Ints) -> Ints:
    """Convert counts to the n + 1 offsets of a ragged array."""
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
