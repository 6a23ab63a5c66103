"""The catchment, authority or works that covers most of a site."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import shapely

from assessment.arrays import Floats, Geometries, distinct
from assessment.bundle.layer import Layer
from assessment.nutrient.overlap import Overlaps, overlaps

TIE = 1e-9
"""Shares of the largest area that count as equal to it; among equals the choice must not be noise."""

Key = tuple[str, int]
"""What ground is added up by: a name, and the source row where features of one name stay apart."""


@dataclass(frozen=True)
class Majority:
    """What covers most of a site, and how much of the site that is. No name: nothing covers it."""

    name: str | None
    share: float


def majorities(
    shapes: Geometries, areas: Floats, layer: Layer, column: str, *, by_name: bool
) -> list[Majority]:
    """One per shape. `by_name` adds up features of one name; else the single largest feature decides."""
    found = overlaps(shapes, layer)
    names = layer.texts(column)
    rank = _by_name if by_name else _by_row
    key = {feature: rank(layer, names, feature) for feature in distinct(layer.feature[found.piece]).tolist()}
    held: dict[int, dict[Key, list[int]]] = {}
    for row, (shape, piece) in enumerate(zip(found.query.tolist(), found.piece.tolist(), strict=True)):
        held.setdefault(shape, {}).setdefault(key[int(layer.feature[piece])], []).append(row)
    return [
        _largest(shapes[k], float(areas[k]), held[k], found, layer) if k in held else Majority(None, 0.0)
        for k in range(len(shapes))
    ]


def _by_name(_layer: Layer, names: Sequence[str | None], feature: int) -> Key:
    return names[feature] or "", 0


def _by_row(layer: Layer, names: Sequence[str | None], feature: int) -> Key:
    return names[feature] or "", int(layer.source_row[feature])


def _largest(
    shape: shapely.Geometry, area: float, held: Mapping[Key, list[int]], found: Overlaps, layer: Layer
) -> Majority:
    """The key with the most ground; among equals the one that comes first."""
    ground = {key: _ground(shape, rows, found, layer) for key, rows in held.items()}
    largest = max(ground.values())
    name, _ = min((key for key, size in ground.items() if size >= largest * (1 - TIE)), key=_first)
    return Majority(name or None, min(largest / area, 1.0))


def _first(key: Key) -> tuple[int, str]:
    """Source order where single features count, else the order of names."""
    return key[1], key[0]


def _ground(shape: shapely.Geometry, rows: Sequence[int], found: Overlaps, layer: Layer) -> float:
    """The sum of the pieces; their union where some overlap."""
    if len(rows) > 1 and layer.overlaps[found.piece[rows]].any():
        return float(
            shapely.area(shapely.union_all(shapely.intersection(layer.polygons(found.piece[rows]), shape)))
        )
    return math.fsum(float(found.area[row]) for row in rows)
