"""Newts: the ring around the sites, ponds on and about them, zones by gravity, against shapes by hand."""

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas
import pyogrio
import pytest
import shapely

from assessment import editions
from assessment.bundle.build import build
from assessment.bundle.bundle import Bundle, open_bundle
from assessment.bundle.sources import in_folder
from assessment.compute import compute
from assessment.gcn.ponds import Ponds
from assessment.intake.upload import survey
from assessment.output.deliver import deliver
from assessment.output.formats import FORMATS
from assessment.report.page import page
from assessment.results import Results
from assessment.spec import JobSpec, Mode
from switchyard.errors import BadInput
from switchyard.store import open_store
from tests.unit.assessment.world import box, sites, write_geojson

SITE = box(1000, 1000, 1200, 1200)
POND = box(1090, 1090, 1110, 1110)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """Red in the west, amber in the middle, green in the east; two national ponds."""
    folder = tmp_path_factory.mktemp("newts")
    zones = [
        (box(0, 0, 1100, 3000), "Red"),
        (box(1100, 0, 1150, 3000), "Amber"),
        (box(1150, 0, 3000, 3000), "Green"),
    ]
    write_geojson(folder / "gcn_risk_zones.geojson", [(shape, {"RZ": zone}) for shape, zone in zones])
    write_geojson(folder / "gcn_ponds.geojson", [(POND, {}), (box(2900, 2900, 2910, 2910), {})])
    build(in_folder(folder), folder / "bundle", lambda _: None)
    return open_bundle(folder / "bundle")


def newts(bundle: Bundle, *shapes: Any, ponds: Ponds | None = None, mode: Mode = "default") -> Results:
    return compute(JobSpec("gcn", editions.load(), mode), sites(*shapes), bundle, ponds=ponds)


def surveyed(*rows: tuple[Any, str, str]) -> Ponds:
    shapes = np.empty(len(rows), dtype=object)
    shapes[:] = [shape for shape, _, _ in rows]
    return Ponds(shapes, tuple(state for _, state, _ in rows), tuple(temporary for _, _, temporary in rows))


def areas(results: Results) -> dict[tuple[str, str], float]:
    return {(row["Area"], row["RZ"]): row["Shape_Area"] for row in results.tables["habitat"].rows}


def test_the_ring_and_the_whole_buffer(bundle: Bundle) -> None:
    """All of the site is within 250 m of the pond; the default leaves the site out and has finer circles."""
    on_site = {("RLB", "Red"): 20_000, ("RLB", "Amber"): 10_000, ("RLB", "Green"): 10_000}
    modes: tuple[tuple[Mode, int, int], ...] = (("compatible", 16, 0), ("default", 64, 40_000))
    for mode, segments, left_out in modes:
        found = areas(newts(bundle, SITE, mode=mode))
        assert {key: found[key] for key in on_site} == pytest.approx(on_site, abs=0.01)
        circle = 2 * segments * 250**2 * math.sin(math.pi / (2 * segments))
        total = 20 * 20 + 4 * 20 * 250 + circle - left_out
        assert sum(v for k, v in found.items() if k[0] == "Buffer") == pytest.approx(total, abs=0.05)


def test_national_ponds_are_not_surveyed(bundle: Bundle) -> None:
    results = newts(bundle, SITE)
    assert list(results.tables["ponds"].rows) == [
        {"PANS": "NS", "Area": "RLB", "MaxZone": "Red", "TmpImp": "F", "FREQUENCY": 1}
    ]
    assert any("no survey" in warning for warning in results.warnings)


def test_ponds_by_place_and_gravest_zone(bundle: Bundle) -> None:
    found = newts(
        bundle,
        SITE,
        ponds=surveyed(
            (box(1140, 1100, 1160, 1110), "P", "T"),
            (box(1195, 1100, 1215, 1110), "A", "F"),
            (box(1300, 1100, 1310, 1110), "A", "F"),
            (box(1320, 1100, 1330, 1110), "A", "F"),
            (box(2500, 1100, 2510, 1110), "P", "F"),
        ),
    )
    counted = {
        (r["PANS"], r["Area"], r["MaxZone"], r["TmpImp"]): r["FREQUENCY"] for r in found.tables["ponds"].rows
    }
    assert counted == {
        ("P", "RLB", "Amber", "T"): 1,
        ("A", "RLB", "Green", "F"): 1,
        ("A", "Buffer", "Green", "F"): 2,
    }


def test_no_survey_and_no_national_layer(tmp_path: Path) -> None:
    write_geojson(tmp_path / "gcn_risk_zones.geojson", [(box(0, 0, 1100, 3000), {"RZ": "Red"})])
    build(in_folder(tmp_path), tmp_path / "bundle", lambda _: None)
    red = open_bundle(tmp_path / "bundle")
    with pytest.raises(
        BadInput, match=r"no survey of ponds was given, and bundle \S+ has no layer gcn_ponds"
    ):
        newts(red, SITE)
    results = newts(red, SITE, ponds=surveyed((POND, "P", "F"), (box(1300, 1100, 1310, 1110), "P", "F")))
    assert "1 ponds are in no risk zone and are not counted" in results.warnings
    assert [row["FREQUENCY"] for row in results.tables["ponds"].rows] == [1]


def test_a_pond_too_small_to_be_drawn_is_counted(bundle: Bundle) -> None:
    results = newts(bundle, SITE, ponds=surveyed((box(1100, 1100, 1100.2, 1100.2), "P", "F")))
    assert [row["FREQUENCY"] for row in results.tables["ponds"].rows] == [1]
    html = page(results, sites(SITE), bundle, editions.load())
    assert 'd=""' not in html
    assert '<path class="pond"' not in html


def test_tables_with_and_without_ground_in_every_format(bundle: Bundle, tmp_path: Path) -> None:
    results = newts(bundle, SITE)
    files = deliver(results, open_store(tmp_path.as_uri()), "", FORMATS, None)
    assert set(files) == {
        "output.json",
        "gcn.gpkg",
        *(f"{table}.{ending}" for table in ("habitat", "ponds") for ending in ("csv", "parquet")),
        "habitat.geojson",
    }
    layers = pyogrio.list_layers(tmp_path / "gcn.gpkg").tolist()
    assert sorted(layers) == [["habitat", "MultiPolygon"], ["ponds", None]]
    for ponds in (
        pyogrio.read_dataframe(tmp_path / "gcn.gpkg", layer="ponds"),
        pandas.read_parquet(tmp_path / "ponds.parquet"),
    ):
        assert ponds.to_dict("records") == list(results.tables["ponds"].rows)


def test_no_pond_means_no_habitat(bundle: Bundle) -> None:
    results = newts(bundle, box(2000, 500, 2100, 600))
    assert not results.tables["habitat"].rows
    assert not results.tables["ponds"].rows
    assert "No habitat" in page(results, sites(box(2000, 500, 2100, 600)), bundle, editions.load())


def test_each_site_has_its_rows_and_all_share_a_buffer(bundle: Bundle) -> None:
    results = newts(bundle, SITE, box(1250, 1000, 1300, 1100))
    rows = results.tables["habitat"].rows
    assert {row["RLB_ID"] for row in rows} == {1, 2, None}
    assert sum(row["Area"] == "Buffer" for row in rows) == 3


def test_a_survey_file(tmp_path: Path) -> None:
    frame = geopandas.GeoDataFrame({"PANS": ["P", "ns"]}, geometry=[POND, SITE], crs=27700)
    frame.to_file(tmp_path / "ponds.gpkg")
    ponds = survey(tmp_path / "ponds.gpkg")
    assert (ponds.state, ponds.temporary) == (("P", "NS"), ("F", "F"))
    frame.assign(PANS=["P", "X"]).to_file(tmp_path / "bad.gpkg")
    with pytest.raises(BadInput, match="pond 2: PANS is 'X'"):
        survey(tmp_path / "bad.gpkg")
    frame.drop(columns="PANS").to_file(tmp_path / "none.gpkg")
    with pytest.raises(BadInput, match="no attribute PANS"):
        survey(tmp_path / "none.gpkg")


def test_moving_and_reordering_change_nothing(bundle: Bundle) -> None:
    first = newts(bundle, SITE, box(1250, 1000, 1300, 1100))
    second = newts(bundle, box(1250, 1000, 1300, 1100), SITE)
    numbers = {1: 2, 2: 1, None: None}
    figures = {(row["RLB_ID"], row["RZ"]): row["Shape_Area"] for row in first.tables["habitat"].rows}
    turned = {(numbers[row["RLB_ID"]], row["RZ"]): row["Shape_Area"] for row in second.tables["habitat"].rows}
    assert turned == pytest.approx(figures, abs=0.01)


def test_habitat_against_plain_geopandas(bundle: Bundle) -> None:
    """Default mode by another road: overlays of whole layers, no grid, no index."""
    generator = np.random.default_rng(4)
    middles = generator.uniform(600, 1700, (30, 2))
    ponds = [box(x, y, x + 15, y + 12) for x, y in middles]
    results = newts(bundle, SITE, ponds=surveyed(*((shape, "NS", "F") for shape in ponds)))
    buffer = shapely.buffer(SITE, 250, quad_segs=64)
    near = [
        shapely.intersection(p, SITE if p.intersects(SITE) else buffer) for p in ponds if p.intersects(buffer)
    ]
    reach = shapely.union_all(shapely.buffer(near, 250, quad_segs=64))
    for zone, shape in (("Red", box(0, 0, 1100, 3000)), ("Green", box(1150, 0, 3000, 3000))):
        ring = shapely.difference(buffer, SITE)
        expected = shapely.area(shapely.intersection_all([shape, reach, ring]))
        assert areas(results)["Buffer", zone] == pytest.approx(expected, abs=0.05)


def test_provenance_names_the_survey(bundle: Bundle) -> None:
    job = replace(JobSpec("gcn", editions.load()), mode="default")
    results = compute(job, sites(SITE), bundle, inputs={"sites": "a", "ponds": "b"})
    assert results.provenance["ponds_sha256"] == "b"


def test_risk_zones_differ_by_more_than_colour(bundle: Bundle) -> None:
    """A pattern each, and defined on the page, once; without it a shape would not be filled at all."""
    html = page(newts(bundle, SITE), sites(SITE), bundle, editions.load())
    fills = dict(re.findall(r"\.map \.(zone-\w+) \{ fill: ([^;]+);", html))
    assert set(fills) == {"zone-red", "zone-amber", "zone-green"}
    patterns = {zone: re.findall(r"url\(#([\w-]+)\)", fill) for zone, fill in fills.items()}
    assert patterns.pop("zone-green") == []
    for zone, (name,) in patterns.items():
        assert html.count(f'<pattern id="{name}"') == 1, zone
    assert len(set(map(tuple, patterns.values()))) == 2
