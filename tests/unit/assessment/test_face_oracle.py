"""The default mode on odd shapes and names, against an overlay that looks at every face of the plane by itself.

All borders are cut at each other; a point inside each face says which site, parcels and catchments it is in.
Shapes have holes, several parts, slivers and ground outside every layer, and overlap; names are what files have.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import shapely
import shapely.affinity
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.assessment.small_worlds import coefficients
from tests.unit.assessment.world import World, box, parcel, rate

NAMES = ("Mere", "mere", " Mere", "A; B", "Río Ænglisc", "x" * 300, "<b>", "'; drop table", "0", "None")
RATES = {name: (1.5 + k / 8, 90.0 + 7 * k) for k, name in enumerate(NAMES)}
SIZE = 300

places = st.tuples(st.floats(-40, SIZE), st.floats(-40, SIZE))
sides = st.floats(0.3, SIZE)


def rotated(place: tuple[float, float], wide: float, high: float, turn: float) -> Any:
    x, y = place
    return shapely.affinity.rotate(box(x, y, x + wide, y + high), turn)


blocks = st.builds(rotated, places, sides, sides, st.sampled_from([0.0, 1e-6, 17.0, 45.0]))


def with_hole(block: Any) -> Any:
    return shapely.difference(block, shapely.affinity.scale(block, 0.4, 0.6))


def twice(block: Any, east: float) -> Any:
    return shapely.MultiPolygon([block, shapely.affinity.translate(block, xoff=SIZE + 90 + east)])


shapes = st.one_of(
    blocks,
    blocks.map(with_hole),
    st.builds(twice, blocks, st.floats(0, 50)),
    st.builds(rotated, places, sides, st.just(0.002), st.sampled_from([0.0, 30.0])),
)


@dataclass(frozen=True)
class Ground:
    parcels: Sequence[tuple[Any, tuple[float, float, float, float]]]
    catchments: Sequence[tuple[Any, str]]
    sites: Sequence[tuple[Any, int]]

    def world(self) -> World:
        return World(
            parcels=[parcel(shape, *numbers) for shape, numbers in self.parcels],
            catchments=[(shape, {"N2K_Site_N": name}) for shape, name in self.catchments],
            rates=[rate(name, *numbers) for name, numbers in RATES.items()],
        )


grounds = st.builds(
    Ground,
    parcels=st.lists(st.tuples(shapes, coefficients), min_size=1, max_size=5),
    catchments=st.lists(st.tuples(shapes, st.sampled_from(NAMES)), min_size=1, max_size=4),
    sites=st.lists(st.tuples(shapes, st.integers(0, 200)), min_size=1, max_size=3),
)


SPIKED = Ground(
    [
        (box(0, 142, 128, 222), (14.25, 0.02, 10.5, 0.9)),
        (box(32, 219, 127, 279), (3.0, 0.02, 10.5, 0.9)),
    ],
    [(rotated((202, 0), 0.5, 285, 45.0), "Mere")],
    [(box(0, 183, 129, 231), 0)],
)
"""A face whose outline returns along itself: GEOS finds its inner point on the outline of another."""


@example(SPIKED)
@given(grounds)
def test_every_face_counts_once(ground: Ground) -> None:
    sites = [shape for shape, _ in ground.sites]
    results = ground.world().assess(*sites, dwellings=[homes for _, homes in ground.sites])
    rows = {row["RLB_ID"]: row for row in results.main.rows}
    for number, site in enumerate(sites, 1):
        area, nitrogen, phosphorus, names = counted(ground, site)
        row = rows.get(number)
        if row is None or row["AreaInNNCatchment"] is None:
            assert area < 1e-4
            continue
        assert row["AreaInNNCatchment"] == pytest.approx(area, abs=0.00501)
        assert row["N_LU_Uplift"] == pytest.approx(nitrogen, abs=0.00501)
        assert row["P_LU_Uplift"] == pytest.approx(phosphorus, abs=0.00501)
        substantial = {name for name, hectares in names.items() if hectares > 1e-7}
        if len(substantial) == len(names):  # of a sliver either answer is right
            assert row["NN_Catchment"] == "; ".join(sorted(names))


def counted(ground: Ground, site: Any) -> tuple[float, float, float, dict[str, float]]:
    """Hectares in any catchment that have a coefficient, kg a year, hectares by name."""
    share = 0.2 if round(site.area / 10_000, 2) >= 1.0 else 0.0
    area = nitrogen = phosphorus = 0.0
    names: dict[str, float] = {}
    for face, inside in faces(ground, site):
        here = [numbers for shape, numbers in ground.parcels if shapely.intersects(shape, inside)]
        found = {name for shape, name in ground.catchments if shapely.intersects(shape, inside)}
        if not (here and found and shapely.intersects(site, inside)):
            continue
        hectares = face.area / 10_000
        area += hectares
        change = [(1 - share) * n_homes + share * 3.0 - n for n, _, n_homes, _ in here]
        nitrogen += hectares * sum(change) / len(here)
        change = [(1 - share) * p_homes + share * 0.2 - p for _, p, _, p_homes in here]
        phosphorus += hectares * sum(change) / len(here)
        for name in found:
            names[name] = names.get(name, 0.0) + hectares
    return area, nitrogen, phosphorus, names


def faces(ground: Ground, site: Any) -> Iterator[tuple[Any, Any]]:
    """Every face, and a point inside it."""
    every = [site, *(s for s, _ in ground.parcels), *(s for s, _ in ground.catchments)]
    lines = shapely.unary_union(shapely.boundary(every))
    for face in shapely.get_parts(shapely.polygonize(shapely.get_parts(lines))):
        yield face, shapely.point_on_surface(face)


def test_the_oracle_on_a_square() -> None:
    ground = Ground(
        [(box(0, 0, 100, 100), (3.0, 0.1, 10.0, 1.0))],
        [(box(0, 0, 50, 100), "Mere")],
        [(box(0, 0, 80, 80), 1)],
    )
    area, nitrogen, _, names = counted(ground, ground.sites[0][0])
    assert (area, nitrogen) == pytest.approx((0.4, 2.8))
    assert names == pytest.approx({"Mere": 0.4})
