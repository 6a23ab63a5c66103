"""Which pieces of a layer overlap another piece: determined once, at build time.

Where nothing overlaps, areas can simply be added, which is what makes an assessment fast. Block by block,
cheapest question first:
1. Do the block and its neighbours unite, as a coverage, to a valid area as large as the sum of theirs? Then
   no ground is covered twice. A clean map of millions of parcels is cleared by this alone, at 3 us a parcel.
2. Which pieces have edges that are not matched by a neighbour's? Only those can overlap anything.
3. Do two of them share more ground than a sliver?
"""

from concurrent.futures import ThreadPoolExecutor
from os import cpu_count

import numpy as np
import shapely

from assessment.arrays import SLIVER, Bools, Geometries, Ints, distinct
from assessment.bundle.boxtree import FANOUT
from assessment.bundle.layer import Layer

BLOCK = FANOUT * 1_250


def overlapping(layer: Layer) -> Bools:
    """By piece: whether it overlaps another one by more than a sliver."""
    count = len(layer.feature)
    found = np.zeros(count, dtype=bool)
    starts = range(0, count, BLOCK)
    with ThreadPoolExecutor(max_workers=min(cpu_count() or 1, 4)) as pool:
        for pieces in pool.map(lambda start: _in_block(layer, start, min(start + BLOCK, count)), starts):
            found[pieces] = True
    return found


def _in_block(layer: Layer, start: int, stop: int) -> Ints:
    """Pieces that overlap one of start..stop-1, themselves included."""
    block = np.arange(start, stop)
    near = _near(layer, start, stop)
    pieces = np.concatenate((block, near[(near < start) | (near >= stop)]))
    polygons = layer.polygons(pieces)
    if _is_coverage(polygons):
        return np.empty(0, np.int64)
    edges = shapely.coverage_invalid_edges(polygons)
    suspects = np.flatnonzero(~shapely.is_empty(edges[: len(block)]))
    return pieces[_sharing(polygons, suspects)]


def _near(layer: Layer, start: int, stop: int) -> Ints:
    """Everything close to the block, asked for by the boxes one level up, which are fewer."""
    boxes = layer.levels[0][start:stop]
    if len(layer.levels) > 1:
        boxes = layer.levels[1][start // FANOUT : -(-stop // FANOUT)]
    return distinct(layer.near(boxes)[1])


def _is_coverage(polygons: Geometries) -> bool:
    try:
        union = shapely.coverage_union_all(polygons)
    except shapely.errors.GEOSException:
        return False
    return bool(shapely.is_valid(union) and abs(shapely.area(union) - shapely.area(polygons).sum()) < SLIVER)


def _sharing(polygons: Geometries, suspects: Ints) -> Ints:
    """Positions of candidates, and of what they overlap."""
    tree = shapely.STRtree(polygons)
    left, right = tree.query(polygons[suspects])
    left = suspects[left]
    other = left != right
    left, right = left[other], right[other]
    shapely.prepare(polygons)
    meet = shapely.relate_pattern(polygons[left], polygons[right], "T********")
    left, right = left[meet], right[meet]
    real = shapely.area(shapely.intersection(polygons[left], polygons[right])) > SLIVER
    return distinct(np.concatenate((left[real], right[real])))
