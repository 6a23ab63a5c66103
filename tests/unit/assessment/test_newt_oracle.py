"""Newts in both modes against the specification written down a second time, with shapely alone.

The worlds are rectangles on a raster of 25 m, so that ponds touch sites, zones and the edge of the surroundings
as often as they cross them. Counts of ponds have to be exact; areas agree to 0.05 m2, as the specification asks.
Nothing here is taken from the product.
"""

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assessment import editions
from assessment.bundle.build import build
from assessment.bundle.bundle import open_bundle
from assessment.bundle.sources import in_folder
from assessment.compute import compute
from assessment.gcn.ponds import Ponds
from assessment.results import Results
from assessment.spec import JobSpec, Mode
from tests.unit.assessment.world import box, sites, write_geojson

STEP = 25
SEGMENTS = {"compatible": 16, "default": 64}
NOISE = 1e-4
KINDS = ("Red", "Amber", "Green")
Rect = tuple[int, int, int, int]
Pond = tuple[Rect, str, str]
Counted = Counter[tuple[str, str, str, str]]


def rects(largest: int) -> st.SearchStrategy[Rect]:
    """Up to this many steps wide and high."""
    place, size = st.integers(0, 60), st.integers(1, largest)
    return st.tuples(place, place, size, size).map(lambda r: (r[0], r[1], r[0] + r[2], r[1] + r[3]))


@dataclass(frozen=True)
class Plan:
    sites: Sequence[Rect]
    zones: Sequence[tuple[Rect, str]]
    ponds: Sequence[Pond]
    surveyed: bool = True


plans = st.builds(
    Plan,
    sites=st.lists(rects(16), min_size=1, max_size=3),
    zones=st.lists(st.tuples(rects(60), st.sampled_from(KINDS)), min_size=1, max_size=5),
    ponds=st.lists(
        st.tuples(rects(3), st.sampled_from(("P", "A", "NS")), st.sampled_from("TF")), min_size=1, max_size=6
    ),
    surveyed=st.booleans(),
)
ZONE = ((0, 0, 60, 60), "Red")
TOUCHING = Plan([(20, 20, 24, 24)], [ZONE], [((24, 20, 25, 21), "P", "F")])
OUTSIDE = Plan([(20, 20, 24, 24)], [ZONE], [((34, 20, 35, 21), "P", "F")])


@settings(derandomize=True)
@given(plans, st.sampled_from(("default", "compatible")))
@example(TOUCHING, "default")
@example(TOUCHING, "compatible")
@example(OUTSIDE, "default")
def test_every_area_and_every_pond_is_the_specifications(plan: Plan, mode: Mode) -> None:
    found = assessed(plan, mode)
    ponds = {
        (row["PANS"], row["Area"], row["MaxZone"], row["TmpImp"]): row["FREQUENCY"]
        for row in found.tables["ponds"].rows
    }
    areas = {(row["RLB_ID"], row["RZ"]): row["Shape_Area"] for row in found.tables["habitat"].rows}
    expected_areas, expected_ponds = oracle(plan, mode)
    assert ponds == dict(expected_ponds)
    absent = dict.fromkeys(
        [*areas, *expected_areas], 0.0
    )  # a row of less than the tolerance may be in one alone
    assert absent | areas == pytest.approx(absent | expected_areas, abs=0.05)


def assessed(plan: Plan, mode: Mode) -> Results:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        zones = [(metres(rect), {"RZ": kind}) for rect, kind in plan.zones]
        write_geojson(folder / "gcn_risk_zones.geojson", zones)
        write_geojson(folder / "gcn_ponds.geojson", [(metres(rect), {}) for rect, _, _ in plan.ponds])
        build(in_folder(folder), folder / "bundle", lambda _: None)
        survey = surveyed(plan) if plan.surveyed else None
        batch = sites(*(metres(rect) for rect in plan.sites))
        job = JobSpec("gcn", editions.load(), mode)
        return compute(job, batch, open_bundle(folder / "bundle"), ponds=survey)


def surveyed(plan: Plan) -> Ponds:
    shapes = np.array([metres(rect) for rect, _, _ in plan.ponds], dtype=object)
    return Ponds(shapes, *zip(*((state, temporary) for _, state, temporary in plan.ponds), strict=True))


def oracle(plan: Plan, mode: Mode) -> tuple[dict[tuple[int | None, str], float], Counted]:
    shapes = [metres(rect) for rect in plan.sites]
    site, buffer = shapely.union_all(shapes), around(shapes, mode)
    zones = [(kind, clip) for rect, kind in plan.zones for clip in clipped(metres(rect), buffer)]
    ponds: list[Any] = []
    counted: Counted = Counter()
    for rect, *said in plan.ponds:
        state, temporary = said if plan.surveyed else ("NS", "F")
        for area, pond in placed(metres(rect), site, buffer, mode):
            ponds.append(pond)
            touched = {kind for kind, zone in zones if zone.intersects(pond)}
            worst = next((kind for kind in KINDS if kind in touched), None)
            if worst:
                counted[state, area, worst, temporary] += 1
    ground = buffer if mode == "compatible" else buffer.difference(site)
    reach = around(ponds, mode)
    areas = {
        (number, kind): shapely.area(shapely.intersection_all([united(zones, kind), reach, row]))
        for number, row in [*enumerate(shapes, 1), (None, ground)]
        for kind in {kind for kind, _ in zones}
        if ponds
    }
    return {key: area for key, area in areas.items() if area > NOISE}, counted


def united(zones: Sequence[tuple[str, Any]], kind: str) -> Any:
    return shapely.union_all([zone for each, zone in zones if each == kind])


def placed(pond: Any, site: Any, buffer: Any, mode: Mode) -> list[tuple[str, Any]]:
    """On a site, or else in its surroundings, or nowhere: where a pond touches a site, the modes differ."""
    on_site = [("RLB", clip) for clip in clipped(pond, site)]
    if on_site or (mode == "compatible" and pond.intersects(site)):
        return on_site
    return [("Buffer", clip) for clip in clipped(pond, buffer)]


def clipped(shape: Any, extent: Any) -> list[Any]:
    """What they have in common, if that is ground."""
    parts = [part for part in shapely.get_parts(shape.intersection(extent)) if part.area > 0]
    return [shapely.union_all(parts)] if parts else []


def around(shapes: Sequence[Any], mode: Mode) -> Any:
    return shapely.union_all([shapely.buffer(shape, 250, quad_segs=SEGMENTS[mode]) for shape in shapes])


def metres(rect: Rect) -> Any:
    return box(*(STEP * side for side in rect))
