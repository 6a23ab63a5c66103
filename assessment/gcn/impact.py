"""Habitat and ponds affected by a development, by risk zone (steps 4 and 5)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from assessment.arrays import SLIVER
from assessment.gcn.ground import Ground, reach
from assessment.gcn.ponds import Ponds
from assessment.gcn.zones import ORDER
from assessment.polygonal import only_polygons, snapped
from assessment.rules import Rules
from assessment.sites import Sites


@dataclass(frozen=True)
class Habitat:
    """A zone's area within reach of a pond, in one site (`site` counts from 0) or around all of them."""

    site: int | None
    zone: str
    ground: shapely.Geometry

    @property
    def area(self) -> float:
        return float(shapely.area(self.ground))


def habitat(
    ground: Ground, zones: Mapping[str, shapely.Geometry], ponds: Ponds, rule: Rules
) -> list[Habitat]:
    """The habitat in each site, and around all of them."""
    if not len(ponds.geometry):
        return []
    near_ponds = reach(ponds.geometry, rule.SEGMENTS)
    by_zone = {name: _snapped(shapely.intersection(zone, near_ponds)) for name, zone in zones.items()}
    rows: list[tuple[int | None, shapely.Geometry]] = [
        *enumerate(ground.sites),
        (None, _snapped(rule.around(ground))),
    ]
    found = [
        Habitat(site, name, only_polygons(shapely.intersection(row, by_zone[name])))
        for site, row in rows
        for name in by_zone
    ]
    return [part for part in found if part.area > SLIVER]


def _snapped(geometry: shapely.Geometry) -> shapely.Geometry:
    return snapped(np.array([geometry], dtype=object))[0]


def gravest(ponds: Ponds, zones: Mapping[str, shapely.Geometry]) -> list[str | None]:
    """The highest-risk zone of each pond; None if it is in none."""
    worst = np.full(len(ponds.geometry), None, dtype=object)
    for name in reversed(ORDER):
        if name in zones:
            shapely.prepare(zones[name])
            worst[shapely.intersects(zones[name], ponds.geometry)] = name
    found: list[str | None] = worst.tolist()
    return found


def frequency(ponds: Ponds, worst: list[str | None]) -> list[dict[str, Any]]:
    """Count ponds by state, area, zone and temporary impact; ponds outside all zones are not counted."""
    counted = Counter(zip(ponds.state, ponds.area, worst, ponds.temporary, strict=True))
    return [
        {"PANS": state, "Area": area, "MaxZone": zone, "TmpImp": temporary, "FREQUENCY": count}
        for (state, area, zone, temporary), count in sorted(counted.items(), key=str)
        if zone is not None
    ]


def habitat_rows(sites: Sites, found: list[Habitat]) -> list[dict[str, Any]]:
    return [
        {
            "Area": "Buffer" if part.site is None else "RLB",
            "RZ": part.zone,
            "Shape_Area": part.area,
            "RLB_ID": None if part.site is None else sites.number[part.site],
            "id": None if part.site is None else sites.id[part.site],
            "Name": None if part.site is None else sites.name[part.site],
            "warnings": [] if part.site is None else sites.notes_of(part.site),
        }
        for part in found
    ]
