"""Ponds: from a survey file, or from the national layer as not surveyed; those in the sites, those around."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import shapely

from assessment.arrays import Bools, Geometries, distinct
from assessment.bundle.layer import Layer
from assessment.bundle.schema import find_column
from assessment.formats.open import open_source
from assessment.gcn.ground import Ground, boxes
from assessment.intake import attributes, geometry
from assessment.intake.accept import LIMIT, everything
from assessment.polygonal import polygonal, snapped
from switchyard.errors import BadInput

STATES = ("P", "A", "NS")
"""Newts present, absent, not surveyed."""

Area = Literal["RLB", "Buffer"]


@dataclass(frozen=True)
class Ponds:
    """Columns by pond. `area` is set once they have been sorted into sites and surroundings."""

    geometry: Geometries
    state: tuple[str, ...]
    temporary: tuple[str, ...]
    area: tuple[Area, ...] = ()


def survey(path: Path) -> Ponds:
    """The ponds of a survey: PANS is needed, TmpImp is F where the file has no such column."""
    source = open_source(path, limit=LIMIT)
    state = find_column("PANS", source.fields)
    temporary = find_column("TmpImp", source.fields)
    if state is None:
        raise BadInput("the survey of ponds has no attribute PANS")
    shapes, read = everything(source, [name for name in (state, temporary) if name is not None])
    return Ponds(
        geometry.vetted(shapes, source.crs, lambda k: f"pond {k + 1}"),
        _checked(read[state], "PANS", STATES, None),
        _checked(read[temporary] if temporary else [None] * len(shapes), "TmpImp", ("T", "F"), "F"),
    )


def _checked(
    values: Sequence[Any], column: str, allowed: tuple[str, ...], default: str | None
) -> tuple[str, ...]:
    clean = []
    for k, value in enumerate(values):
        text = attributes.text(
            {True: "T", False: "F"}.get(value, value) if isinstance(value, bool) else value
        )
        text = text.upper() if text else default
        if text not in allowed:
            raise BadInput(f"pond {k + 1}: {column} is {value!r}; it must be one of {', '.join(allowed)}")
        clean.append(text)
    return tuple(clean)


def national(layer: Layer, extent: shapely.Geometry) -> Ponds:
    """The national layer's ponds near the extent; nobody surveyed them. A pond cut in pieces is one pond."""
    _, near = layer.near(boxes(extent))
    near = distinct(near)
    polygons, feature = layer.polygons(near), layer.feature[near]
    order = np.argsort(feature, kind="stable")
    owners, starts = np.unique(feature[order], return_index=True)
    shapes = np.empty(len(owners), dtype=object)
    for k, part in enumerate(np.split(polygons[order], starts[1:]) if len(owners) else []):
        shapes[k] = part[0] if len(part) == 1 else shapely.union_all(part)
    return Ponds(shapes, ("NS",) * len(shapes), ("F",) * len(shapes))


def sorted_by_area(ponds: Ponds, ground: Ground) -> Ponds:
    """Ponds on a site, cut to it; then the others within reach, cut to that. Others are dropped."""
    shapes = snapped(ponds.geometry)
    shapely.prepare(ground.site)
    shapely.prepare(ground.buffer)
    within = shapely.intersects(ground.buffer, shapes)
    on_site = within & shapely.intersects(ground.site, shapes)
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
