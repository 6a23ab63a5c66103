"""Sites that share ground or an id with other sites of the batch, which the totals count more than once."""

from collections.abc import Sequence

import numpy as np
import shapely

from assessment import row_warnings as words
from assessment.arrays import SLIVER
from assessment.nutrient.cores import shared_area
from assessment.nutrient.warn import ground
from assessment.sites import Sites

MOST_NAMED = 5
"""The number of other sites that one warning names; further ones are only counted."""


def shared_ground(sites: Sites) -> list[list[str]]:
    """The warnings of each site, in order."""
    said = _same_id(sites)
    first, second = shapely.STRtree(sites.geometry).query(sites.geometry, predicate="intersects")
    pairs = np.flatnonzero(first < second)
    first, second = first[pairs], second[pairs]
    areas = shared_area(sites.geometry[first], sites.geometry[second])
    others: dict[int, list[tuple[int, float]]] = {}
    for k in np.flatnonzero(areas > SLIVER).tolist():
        one, other, area = int(first[k]), int(second[k]), float(areas[k])
        others.setdefault(one, []).append((other, area))
        others.setdefault(other, []).append((one, area))
    for k, found in others.items():
        said[k].append(_overlap(sites, k, sorted(found)))
    return said


def _overlap(sites: Sites, k: int, found: Sequence[tuple[int, float]]) -> str:
    numbers = [sites.number[other] for other, _ in found]
    if len(found) == 1 and _same(sites, k, *found[0]):
        return words.SAME_BOUNDARY(site=numbers[0])
    area = sum(area for _, area in found)
    return words.OVERLAPS(sites=_named(numbers), ground=ground(area))


def _same(sites: Sites, k: int, other: int, area: float) -> bool:
    return bool(max(sites.area[k], sites.area[other]) - area <= SLIVER)


def _same_id(sites: Sites) -> list[list[str]]:
    holders: dict[str, list[int]] = {}
    for k, own in enumerate(sites.id):
        if own is not None:
            holders.setdefault(own, []).append(k)
    said: list[list[str]] = [[] for _ in sites.id]
    for held in holders.values():
        for k in held if len(held) > 1 else ():
            others = [sites.number[other] for other in held if other != k]
            said[k].append(words.SAME_ID(sites=_named(others)))
    return said


def _named(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:MOST_NAMED])
    more = len(numbers) - MOST_NAMED
    return f"site{'s' if len(numbers) > 1 else ''} {shown}" + (f" and {more} more" if more > 0 else "")
