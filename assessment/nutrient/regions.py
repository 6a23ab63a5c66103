"""The parts of each site that are in nutrient neutrality catchments."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from assessment.arrays import SLIVER, Floats, Geometries
from assessment.bundle.layer import Layer
from assessment.nutrient.cores import intersections
from assessment.polygonal import polygonal

NAME = "N2K_Site_N"


@dataclass(frozen=True)
class Region:
    """The area of one site in one catchment, which may have no name, or (`united`) in several."""

    site: int
    catchment: str | None
    ground: shapely.Geometry
    united: bool = False


def by_feature(shapes: Geometries, areas: Floats, catchments: Layer) -> list[Region]:
    """One region per (site, catchment feature), as the compatible mode counts them."""
    names = catchments.texts(NAME)
    return [
        Region(site, names[feature], ground)
        for (site, feature), ground in _grounds(shapes, areas, catchments, range(len(names))).items()
    ]


def by_name(shapes: Geometries, areas: Floats, catchments: Layer) -> list[Region]:
    """One region per (site, name), and one over all names if a site has several; no area counts twice."""
    names = catchments.texts(NAME)
    present = sorted({name or "" for name in names})
    position = {name: k for k, name in enumerate(present)}
    grounds = _grounds(shapes, areas, catchments, [position[name or ""] for name in names])
    regions = [Region(site, present[group] or None, ground) for (site, group), ground in grounds.items()]
    return regions + _unions(regions, shapes, areas)


def _unions(regions: Sequence[Region], shapes: Geometries, areas: Floats) -> list[Region]:
    of_site: dict[int, list[shapely.Geometry]] = {}
    for region in regions:
        of_site.setdefault(region.site, []).append(region.ground)
    return [
        Region(site, None, _whole(shapely.union_all(grounds), shapes[site], areas[site]), united=True)
        for site, grounds in of_site.items()
        if len(grounds) > 1
    ]


def _grounds(
    shapes: Geometries, areas: Floats, catchments: Layer, group_of: Sequence[int]
) -> dict[tuple[int, int], shapely.Geometry]:
    """By (site, group): the part of the site in the group's catchments."""
    site, piece = catchments.near(shapely.bounds(shapes))
    wanted, index = np.unique(piece, return_inverse=True)
    polygons = catchments.polygons(wanted)
    shapely.prepare(polygons)
    found = shapes[site]
    crossing = np.flatnonzero(~shapely.contains_properly(polygons[index], found))
    found[crossing] = polygonal(intersections(polygons[index[crossing]], found[crossing]))
    real = np.flatnonzero(shapely.area(found) > SLIVER)
    feature = catchments.feature[piece[real]].tolist()
    parts: dict[tuple[int, int], list[shapely.Geometry]] = {}
    for s, f, ground in zip(site[real].tolist(), feature, found[real], strict=True):
        parts.setdefault((s, group_of[f]), []).append(ground)
    return {
        key: _whole(shapely.union_all(grounds), shapes[key[0]], areas[key[0]])
        if len(grounds) > 1
        else grounds[0]
        for key, grounds in sorted(parts.items())
    }


def _whole(ground: shapely.Geometry, site: shapely.Geometry, area: float) -> shapely.Geometry:
    """The site itself if all of it is covered: simpler, and without the cuts between pieces."""
    return site if shapely.area(ground) >= area - SLIVER else ground
