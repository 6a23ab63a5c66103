"""What a report puts together from the rows, and where a map puts its numbers."""

import re

import numpy as np
import pytest
import shapely

from assessment import editions
from assessment.compute import compute
from assessment.report.frame import HEIGHT, WIDTH, Frame, around, densest
from assessment.report.groups import OUTSIDE, split, subtotals, warned
from assessment.report.labels import HIGH, WIDE, places
from assessment.report.map import LETTER, draw
from assessment.spec import JobSpec
from tests.unit.assessment.world import World, box, sites

WORLD = World(
    catchments=[
        (box(0, 0, 500, 1000), {"N2K_Site_N": "Mere"}),
        (box(500, 0, 1000, 1000), {"N2K_Site_N": "Tarn"}),
    ],
    works=[(box(0, 0, 1000, 1000), {"WwTw_ID": 7}), (box(1000, 0, 2000, 1000), {"WwTw_ID": 7})],
)


def test_subtotals_add_up_to_the_total() -> None:
    found = WORLD.assess(box(475, 0, 575, 100), box(0, 0, 100, 100), box(1100, 0, 1200, 100))
    for parts in subtotals(found.main.rows).values():
        assert sum(part.nitrogen for part in parts) == pytest.approx(found.summary["n_total"], abs=0.01)
        assert sum(part.phosphorus for part in parts) == pytest.approx(found.summary["p_total"], abs=0.01)
        assert sum(part.dwellings for part in parts) == pytest.approx(30)
    sizes = {part.name: part.sites for part in subtotals(found.main.rows)["Nutrient catchment"]}
    assert sizes == {"Mere": 2, "Tarn": 1, OUTSIDE: 1}


def test_a_site_in_two_catchments_is_split_by_area() -> None:
    parts = split(WORLD.assess(box(475, 0, 575, 100), box(0, 0, 100, 100)).main.rows)
    assert [(part["row"]["RLB_ID"], part["name"]) for part in parts] == [(1, "Mere"), (1, "Tarn")]
    assert [part["share"] for part in parts] == pytest.approx([0.25, 0.75])
    assert [part["hectares"] for part in parts] == [0.25, 0.75]


def test_warnings_of_one_kind_are_one_group() -> None:
    works = [(box(0, 0, 1000, 10), {"WwTw_ID": 7}), (box(0, 500, 1000, 520), {"WwTw_ID": 7})]
    found = WORLD.but(works=works).assess(box(0, 0, 100, 100), box(0, 500, 100, 600))
    (group,) = warned(found.main.rows)
    assert group.heading == "The works serves less than half of the site"
    assert (group.sites, list(group.texts.values())) == (2, [[1], [2]])


def test_numbers_do_not_cover_each_other() -> None:
    generator = np.random.default_rng(5)
    points = np.vstack((generator.uniform(100, 500, (200, 2)), generator.normal(300, 12, (45, 2))))
    middles = np.array([place for place, _ in places(range(1, 246), points, (WIDTH, HEIGHT))])
    half = np.array([[len(str(k)) * WIDE, HIGH] for k in range(1, 246)]) / 2
    low, high = middles - half, middles + half
    assert (low >= 0).all()
    assert (high <= (WIDTH, HEIGHT)).all()
    met = ((low[:, None] < high[None]) & (high[:, None] > low[None])).all(axis=2)
    assert met.sum() == 245, "each meets itself alone"


def test_many_sites_in_a_corner_get_a_map_of_their_own() -> None:
    apart = [box(5_000 * k, 20_000, 5_000 * k + 50, 20_050) for k in range(10)]
    close = [box(60 * (k % 10), 60 * (k // 10), 60 * (k % 10) + 40, 60 * (k // 10) + 40) for k in range(50)]
    batch = sites(*apart, *close)
    world = WORLD.bundle()
    html = draw(compute(JobSpec("nutrient", editions.load()), batch, world), batch, world)
    assert html.count("<svg") == 2
    assert sorted(map(int, re.findall(r'id="map-(\d+)"', html))) == list(range(1, 61)), "each once"
    first, second = html.split("</svg>")[:2]
    assert len(re.findall("id=.map-", second)) == 50
    assert "See the second map" in first


@pytest.mark.parametrize(("north", "shown"), [(300, 0), (1500, 1)])
def test_the_name_of_a_catchment_covers_no_site(north: float, shown: int) -> None:
    """Between two sites there is no room for it."""
    name = "River Somewhere and its Marshes SAC"
    batch = sites(box(0, -300, 600, 300), box(900, -300, 1500, 300))
    world = WORLD.but(catchments=[(box(0, -300, 1500, north), {"N2K_Site_N": name})]).bundle()
    html = draw(compute(JobSpec("nutrient", editions.load()), batch, world), batch, world)
    found = re.findall(rf'<text class="name" x="([\d.]+)" y="([\d.]+)">{name}</text>', html)
    assert len(found) == shown
    frame, half = around(batch.geometry), len(name) * LETTER / 2
    for x, y in [(float(x), float(y)) for x, y in found]:
        for west, south, east, top in shapely.bounds(batch.geometry):
            (left, low), (right, high) = frame.points(np.array([[west, south], [east, top]]))
            assert x + half <= left or x - half >= right or y <= high or y - 13 >= low


def test_a_few_sites_have_one_map() -> None:
    assert densest(Frame(0, 0, 1), np.zeros((10, 2))) is None


def test_a_map_of_thousands_of_sites_has_links_but_no_numbers() -> None:
    """To find room for numbers takes time with the square of their count."""
    shapes = [
        box(100 * (k % 50), 100 * (k // 50), 100 * (k % 50) + 40, 100 * (k // 50) + 40) for k in range(501)
    ]
    batch, world = sites(*shapes), WORLD.bundle()
    html = draw(compute(JobSpec("nutrient", editions.load()), batch, world), batch, world)
    assert len(re.findall('id="map-', html)) == 501
    assert 'class="number"' not in html
    assert html.count("<svg") == 1
