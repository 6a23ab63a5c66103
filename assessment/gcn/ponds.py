"""Ponds: from a survey, or from the national layer as not surveyed; sorted into sites and surroundings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import shapely

from assessment.arrays import Bools, Geometries, distinct
from assessment.bundle.layer import Layer
from assessment.gcn.ground import Ground, boxes
from assessment.polygonal import polygonal, snapped
from assessment.rules import Rules

Area = Literal["RLB", "Buffer"]


@dataclass(frozen=True)
class Ponds:
    """Columns by pond. `state`: newts present (P), absent (A), not surveyed (NS).

    `area` is set once the ponds have been sorted into sites and surroundings.
    """

    geometry: Geometries
    state: tuple[str, ...]
    temporary: tuple[str, ...]
    area: tuple[Area, ...] = ()


def national(layer: Layer, extent: shapely.Geometry) -> Ponds:
    """Unsurveyed ponds of the national layer near the extent. A pond that was cut into pieces is one pond."""
    _, near = layer.near(boxes(extent))
    near = distinct(near)
    polygons, feature = layer.polygons(near), layer.feature[near]
    order = np.argsort(feature, kind="stable")
    owners, starts = np.unique(feature[order], return_index=True)
    shapes = np.empty(len(owners), dtype=object)
    for k, part in enumerate(np.split(polygons[order], starts[1:]) if len(owners) else []):
        shapes[k] = part[0] if len(part) == 1 else shapely.union_all(part)
    return Ponds(shapes, ("NS",) * len(shapes), ("F",) * len(shapes))


def sorted_by_area(ponds: Ponds, ground: Ground, rule: Rules) -> Ponds:
    """Ponds on a site, clipped to it, then other ponds in the buffer, clipped to it. Others are dropped."""
    shapes = snapped(ponds.geometry)
    shapely.prepare(ground.site)
    shapely.prepare(ground.buffer)
    within = shapely.intersects(ground.buffer, shapes)
    on_site = within & rule.on_site(shapes, ground.site)
    kept = []
    for area, mask, cutter in (("RLB", on_site, ground.site), ("Buffer", within & ~on_site, ground.buffer)):
        cut = polygonal(shapely.intersection(shapes[mask], cutter))
        kept.append((area, np.flatnonzero(mask), cut))
    return _joined(ponds, kept)


def _joined(ponds: Ponds, kept: Sequence[tuple[Any, Any, Geometries]]) -> Ponds:
    shapes = np.concatenate([cut for _, _, cut in kept])
    rows = np.concatenate([index for _, index, _ in kept]).tolist()
    areas = [area for area, index, _ in kept for _ in index]
    real: Bools = ~shapely.is_empty(shapes)
    return Ponds(
        shapes[real],
        tuple(ponds.state[row] for row, r in zip(rows, real, strict=True) if r),
        tuple(ponds.temporary[row] for row, r in zip(rows, real, strict=True) if r),
        tuple(area for area, r in zip(areas, real, strict=True) if r),
    )
