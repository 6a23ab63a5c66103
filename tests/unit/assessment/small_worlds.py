"""Random small worlds of rectangles, and what they come to when every square is looked at by itself.

The brute force shares nothing with the product: it cuts the ground along every edge there is, so that each cell
lies inside a shape or outside it, and adds up cell by cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import shapely
from hypothesis import strategies as st

from tests.unit.assessment.world import PACKAGE, World, box, parcel, rate, works

SIZE = 400
Rect = tuple[int, int, int, int]


def rects(smallest: int = 1) -> st.SearchStrategy[Rect]:
    """Rectangles with whole corners in the world."""
    side = st.tuples(st.integers(0, SIZE - smallest), st.integers(smallest, SIZE)).map(
        lambda pair: (pair[0], min(pair[0] + pair[1], SIZE))
    )
    return st.tuples(side, side).map(lambda sides: (sides[0][0], sides[1][0], sides[0][1], sides[1][1]))


@dataclass(frozen=True)
class Plan:
    """Rectangles and coefficients, before they become a world."""

    parcels: Sequence[tuple[Rect, tuple[float, float, float, float]]]
    catchments: Sequence[tuple[Rect, str]]
    works: Sequence[tuple[Rect, str]]
    sites: Sequence[tuple[Rect, int]]

    def world(self) -> World:
        return World(
            parcels=[parcel(box(*r), *c) for r, c in self.parcels],
            works=[(box(*r), {"WwTw_ID": code}) for r, code in self.works],
            authorities=[(box(0, 0, SIZE, SIZE), {"NAME": "Shire"})],
            catchments=[(box(*r), {"N2K_Site_N": name}) for r, name in self.catchments],
            subcatchments=[(box(0, 0, SIZE, SIZE), {"OPCAT_NAME": "Brook"})],
            works_table=[works("7"), works("8", Nitrogen_2030_onwards=20), PACKAGE],
            rates=[rate("A", 2.4, 120), rate("B", 2.0, 110), rate("C", 3.0, 140)],
        )

    def shapes(self) -> list[Any]:
        return [box(*r) for r, _ in self.sites]

    def dwellings(self) -> list[int]:
        return [count for _, count in self.sites]


coefficients = st.tuples(
    st.sampled_from([3.0, 14.25, 27.1]),
    st.sampled_from([0.02, 0.35, 1.3]),
    st.sampled_from([10.5, 14.3]),
    st.sampled_from([0.9, 1.32]),
)
plans = st.builds(
    Plan,
    parcels=st.lists(st.tuples(rects(20), coefficients), min_size=1, max_size=5),
    catchments=st.lists(st.tuples(rects(40), st.sampled_from("ABC")), min_size=1, max_size=3),
    works=st.lists(st.tuples(rects(40), st.sampled_from(["7", "8"])), min_size=1, max_size=2),
    sites=st.lists(st.tuples(rects(10), st.integers(0, 200)), min_size=1, max_size=3),
)


@dataclass(frozen=True)
class Counted:
    """What the cells of one site add up to: hectares and kg/yr."""

    area: float
    nitrogen: float
    phosphorus: float
    by_name: dict[str, float]


def holds(rect: Rect, x: float, y: float) -> bool:
    return rect[0] < x < rect[2] and rect[1] < y < rect[3]


def count_cells(plan: Plan, site: Rect, greenspace: float) -> Counted:
    """Every square once: ground in any catchment, with the mean of the parcels on it."""
    rectangles = [site, *(r for r, _ in plan.parcels), *(r for r, _ in plan.catchments)]
    xs = sorted({x for r in rectangles for x in (r[0], r[2])})
    ys = sorted({y for r in rectangles for y in (r[1], r[3])})
    area = nitrogen = phosphorus = 0.0
    by_name: dict[str, float] = {}
    for x0, x1 in pairwise(xs):
        for y0, y1 in pairwise(ys):
            x, y = (x0 + x1) / 2, (y0 + y1) / 2
            names = {name for r, name in plan.catchments if holds(r, x, y)}
            here = [c for r, c in plan.parcels if holds(r, x, y)]
            if not (holds(site, x, y) and names and here):
                continue
            size = (x1 - x0) * (y1 - y0) / 10_000
            area += size
            nitrogen += (
                size * sum((1 - greenspace) * c[2] + greenspace * 3.0 - c[0] for c in here) / len(here)
            )
            phosphorus += (
                size * sum((1 - greenspace) * c[3] + greenspace * 0.2 - c[1] for c in here) / len(here)
            )
            for name in names:
                by_name[name] = by_name.get(name, 0.0) + size
    return Counted(area, nitrogen, phosphorus, by_name)


def count_rows(plan: Plan, site: Rect, greenspace: float) -> tuple[float, float, float]:
    """As the compatible mode counts: each parcel in each catchment feature by itself, rounded, then added."""
    area = nitrogen = phosphorus = 0.0
    for parcel_rect, c in plan.parcels:
        for catchment_rect, _ in plan.catchments:
            shared = shapely.intersection_all([box(*site), box(*parcel_rect), box(*catchment_rect)])
            size = float(shapely.area(shared)) / 10_000
            area += size
            nitrogen += round(((1 - greenspace) * c[2] + greenspace * 3.0 - c[0]) * size, 2)
            phosphorus += round(((1 - greenspace) * c[3] + greenspace * 0.2 - c[1]) * size, 2)
    return area, nitrogen, phosphorus
