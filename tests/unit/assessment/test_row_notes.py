"""What was done to a boundary, and which sites share ground or an id: said in the row."""

import struct
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from assessment import editions
from assessment.compute import compute
from assessment.intake.upload import gcn_sites, nutrient_sites
from assessment.nutrient.repeats import shared_ground
from assessment.nutrient.warn import ground, percent
from assessment.spec import JobSpec
from tests.unit.assessment.files import DONUT, frame, members, write, zipped
from tests.unit.assessment.world import World, box, sites

BOW_TIE = shapely.Polygon([(600_000, 300_000), (600_100, 300_100), (600_100, 300_000), (600_000, 300_100)])


def warned(world: World, path: Path) -> list[Any]:
    found = compute(JobSpec("nutrient", editions.load()), nutrient_sites(path), world.bundle())
    return [row["warnings"] for row in found.main.rows]


def test_a_repaired_boundary(tmp_path: Path, world: World) -> None:
    path = write(tmp_path / "sites.gpkg", frame([BOW_TIE, box(300, 300, 400, 400)], id=["a", "b"]))
    first, second = warned(world, path)
    assert first[0] == (
        "the boundary was invalid (self-intersection at 600050 300050) and was repaired: "
        "0.0000 ha became 0.5000 ha"
    )
    assert second == []
    assert gcn_sites(path).notes == {1: (first[0],)}


def test_a_shapefile_whose_rings_run_the_wrong_way(tmp_path: Path) -> None:
    """Its shell is taken for a hole and its hole for a shell, as some writers have them."""
    path = write(tmp_path / "sites.shp", frame([DONUT]))
    content = bytearray(path.read_bytes())
    rings, points = struct.unpack_from("<II", content, 144)
    starts = [*struct.unpack_from(f"<{rings}I", content, 152), points]
    corners = np.frombuffer(bytes(content), "<f8", 2 * points, 152 + 4 * rings).reshape(-1, 2)
    turned = [corners[first:last][::-1] for first, last in pairwise(starts)]
    content[152 + 4 * rings :] = np.concatenate(turned).tobytes()
    path.write_bytes(bytes(content))
    found = nutrient_sites(path)
    assert found.area.tolist() == [9600.0]
    assert shapely.equals(found.geometry[0], DONUT)
    assert "the boundary was invalid (hole lies outside shell" in found.notes_of(0)[0]


FEET = {
    'UNIT["Meter",1.0]': 'UNIT["Foot",0.3048]',
    "400000.0": "1312335.9580052",
    "-100000.0": "-328083.9895013",
}
OTHER = {
    "Airy_1830": "WGS_1984",
    "6377563.396,299.3249646": "6378137.0,298.257223563",
    "OSGB_1936": "WGS_1984",
}


@pytest.mark.parametrize(
    ("changes", "area", "west"),
    [({}, 10_000.0, 6e5), (FEET, 929.03, 182_880.0), (OTHER, 10_000.6, 600_102.7)],
)
def test_a_system_that_only_has_the_name_of_the_national_grid(
    tmp_path: Path, changes: dict[str, str], area: float, west: float
) -> None:
    text = (
        'PROJCS["British_National_Grid",GEOGCS["GCS_OSGB_1936",DATUM["D_OSGB_1936",'
        'SPHEROID["Airy_1830",6377563.396,299.3249646]],PRIMEM["Greenwich",0.0],'
        'UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",400000.0],'
        'PARAMETER["False_Northing",-100000.0],PARAMETER["Central_Meridian",-2.0],'
        'PARAMETER["Scale_Factor",0.9996012717],PARAMETER["Latitude_Of_Origin",49.0],UNIT["Meter",1.0]]'
    )
    for before, after in changes.items():
        text = text.replace(before, after)
    found = nutrient_sites(zipped(tmp_path / "z.zip", {**members(tmp_path), "sites.prj": text.encode()}))
    assert found.area[0] == pytest.approx(area, rel=1e-5)
    assert shapely.bounds(found.geometry[0])[0] == pytest.approx(west, abs=0.1)
    assert bool(found.notes) == bool(changes)


def test_a_boundary_in_longitude_and_latitude(tmp_path: Path, world: World) -> None:
    moved = frame([box(0, 0, 100, 100)]).to_crs("EPSG:4326")
    (row,) = warned(world, write(tmp_path / "sites.gpkg", moved))
    assert row[0] == "converted from EPSG:4326 to the National Grid: it may be off by up to 5 m"


def test_sites_that_share_ground(world: World) -> None:
    found = world.assess(
        box(0, 0, 100, 100), box(50, 0, 150, 100), box(150, 0, 200, 100), box(400, 400, 500, 500),
        box(400, 400, 500, 500),
    ).main.rows  # fmt: skip
    said = [row["warnings"] for row in found]
    assert said == [
        ["overlaps site 2 (0.5 ha): that ground is counted more than once"],
        ["overlaps site 1 (0.5 ha): that ground is counted more than once"],
        [],
        ["has the same boundary as site 5: counted in the total of both"],
        ["has the same boundary as site 4: counted in the total of both"],
    ]


@pytest.mark.parametrize(
    ("square_metres", "words"),
    [(0.05, "less than 1 m²"), (17.4, "17 m²"), (460, "0.046 ha"), (5000, "0.5 ha"), (1_234_000, "120 ha"),
     (123_400_000, "12,000 ha")],
)  # fmt: skip
def test_areas_are_in_words_that_people_use(square_metres: float, words: str) -> None:
    assert ground(square_metres) == words


def test_a_tiny_share_has_no_exponent() -> None:
    assert [percent(share) for share in (0.00000123, 0.00056, 0.053, 0.496)] == [
        "less than 0.01 %", "0.056 %", "5.3 %", "49.6 %"
    ]  # fmt: skip


def test_a_share_under_a_half_never_reads_as_a_half() -> None:
    assert [percent(share) for share in (0.4994, 0.4996, 0.499999, 0.5, 0.5004)] == [
        "49.9 %", "just under 50 %", "just under 50 %", "50 %", "50 %"
    ]  # fmt: skip


def test_sites_with_one_id(world: World) -> None:
    batch = replace(sites(*(box(110 * k, 0, 110 * k + 100, 50) for k in range(9))), id=("a",) * 8 + ("b",))
    said = shared_ground(batch)
    assert said[0] == ["has the same id as sites 2, 3, 4, 5, 6 and 2 more"]
    assert said[8] == []
    assert shared_ground(replace(batch, id=(None,) * 9)) == [[]] * 9


def test_overlaps_against_every_pair() -> None:
    generator = np.random.default_rng(7)
    corners = generator.uniform(0, 900, (60, 2))
    shapes = [box(x, y, x + 80, y + 60) for x, y in corners]
    said = shared_ground(replace(sites(*shapes), id=tuple(str(k) for k in range(60))))
    for k, shape in enumerate(shapes):
        shared = [o + 1 for o, other in enumerate(shapes) if o != k and shape.intersection(other).area > 1e-4]
        assert bool(said[k]) == bool(shared)
        if shared and len(shared) <= 5:
            assert ", ".join(map(str, shared)) in said[k][0]


def test_a_part_of_the_sites_keeps_its_notes() -> None:
    batch = replace(sites(*(box(110 * k, 0, 110 * k + 100, 50) for k in range(4))), notes={3: ("x",)})
    part = batch.part(2, 4)
    assert (part.notes_of(0), part.notes_of(1)) == (["x"], [])


@pytest.mark.parametrize("mode", ["default", "compatible"])
def test_both_modes_report_it(world: World, mode: Any) -> None:
    found = world.assess(box(0, 0, 100, 100), box(50, 0, 150, 100), mode=mode).main.rows
    assert all(any("overlaps site" in warning for warning in row["warnings"]) for row in found)
