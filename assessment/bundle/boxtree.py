"""A packed tree of bounding boxes over features in curve order: no pointers, so it can be memory-mapped.

Level 0 holds one box per feature, level k one box per FANOUT boxes of level k - 1. A search processes all
queries together, level by level; its cost depends on the boxes that they meet, not on the layer's size.
"""

from collections.abc import Sequence

import numpy as np

from assessment.arrays import Bools, Floats, Ints, spans

FANOUT = 16


def grow(boxes: Floats) -> list[Floats]:
    """The levels above `boxes`; the last one has at most FANOUT boxes."""
    levels: list[Floats] = []
    below = boxes
    while len(below) > FANOUT:
        below = _parents(below)
        levels.append(below)
    return levels


def _parents(boxes: Floats) -> Floats:
    starts = np.arange(0, len(boxes), FANOUT)
    low = np.minimum.reduceat(boxes[:, :2], starts, axis=0)
    high = np.maximum.reduceat(boxes[:, 2:], starts, axis=0)
    return np.hstack((low, high))


def search(levels: Sequence[Floats], queries: Floats) -> tuple[Ints, Ints]:
    """Pairs (query, feature) whose boxes intersect, ordered by query, then feature."""
    top = levels[-1]
    query = np.repeat(np.arange(len(queries)), len(top))
    node = np.tile(np.arange(len(top)), len(queries))
    for depth in range(len(levels) - 1, -1, -1):
        met = _meet(queries[query], levels[depth][node])
        query, node = query[met], node[met]
        if depth:
            query, node = _children(query, node, len(levels[depth - 1]))
    order = np.lexsort((node, query))
    return query[order], node[order]


def _children(query: Ints, node: Ints, available: int) -> tuple[Ints, Ints]:
    starts = node * FANOUT
    counts = np.minimum(starts + FANOUT, available) - starts
    return np.repeat(query, counts), spans(starts, counts)


def _meet(a: Floats, b: Floats) -> Bools:
    met: Bools = (a[:, 0] <= b[:, 2]) & (a[:, 2] >= b[:, 0]) & (a[:, 1] <= b[:, 3]) & (a[:, 3] >= b[:, 1])
    return met
