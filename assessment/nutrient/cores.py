"""Intersections on all cores: GEOS releases the interpreter lock, so threads are enough."""

import os
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import shapely

from assessment.arrays import Floats, Geometries

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

WORTH_IT = 50
"""Number of pairs below which distributing them to threads costs more than it saves."""
MOST_CORES = 4


def shared_area(left: Geometries, right: Geometries) -> Floats:
    """The area of the intersection of each pair."""
    return _on_cores(lambda a, b: shapely.area(shapely.intersection(a, b)), left, right)


def intersections(left: Geometries, right: Geometries) -> Geometries:
    """The intersection of each pair."""
    return _on_cores(shapely.intersection, left, right)


def _on_cores(
    of_pairs: Callable[[Geometries, Geometries], npt.NDArray[Any]], left: Geometries, right: Geometries
) -> npt.NDArray[Any]:
    cores = min(len(os.sched_getaffinity(0)), MOST_CORES)
    if cores < 2 or len(left) < WORTH_IT:
        return of_pairs(left, right)
    # more parts than cores, because pairs differ in size
    shares = np.array_split(np.arange(len(left)), 2 * cores)
    parts = _pool(cores, os.getpid()).map(lambda share: of_pairs(left[share], right[share]), shares)
    return np.concatenate(list(parts))


@lru_cache(maxsize=1)
def _pool(cores: int, process: int) -> "ThreadPoolExecutor":
    """One pool per process: threads do not survive a fork, so a child creates a new pool."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - one small site needs none

    return ThreadPoolExecutor(cores, thread_name_prefix=f"overlap-{process}")
