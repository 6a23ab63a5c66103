"""The catchment, authority or works that covers most of a site."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import shapely

from assessment.arrays import Floats, Geometries, distinct
from assessment.bundle.layer import Layer
from assessment.nutrient.overlap import Overlaps, overlaps

TIE = 1e-9
"""Areas within this relative tolerance of the largest count as equal, so that noise does not decide."""

Key = tuple[str, int]
"""Key for adding up areas: a name, and the source row if features with the same name are separate."""


@dataclass(frozen=True)
class Majority:
    """The name that covers most of a site, and its share of the site. No name: nothing covers the site."""

    name: str | None
    share: float


def majorities(
    shapes: Geometries, areas: Floats, layer: Layer, column: str, *, by_name: bool
) -> list[Majority]:
    """One result per shape. `by_name` adds up features with the same name; else the largest one counts."""
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
    """The key with the largest area; among equals, the first."""
    ground = {key: _ground(shape, rows, found, layer) for key, rows in held.items()}
    largest = max(ground.values())
    name, _ = min((key for key, size in ground.items() if size >= largest * (1 - TIE)), key=_first)
    return Majority(name or None, min(largest / area, 1.0))


def _first(key: Key) -> tuple[int, str]:
    """Sort by source order if single features count, else by name."""
    return key[1], key[0]


def _ground(shape: shapely.Geometry, rows: Sequence[int], found: Overlaps, layer: Layer) -> float:
    """The summed area of the pieces; the area of their union if some overlap."""
    if len(rows) > 1 and layer.overlaps[found.piece[rows]].any():
        return float(
            shapely.area(shapely.union_all(shapely.intersection(layer.polygons(found.piece[rows]), shape)))
        )
    return math.fsum(float(found.area[row]) for row in rows)
