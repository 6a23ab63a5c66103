"""Assessments of GeoDataFrames: the figures of the same sites in a file, and a picture of them."""

from pathlib import Path
from typing import Any

import geopandas
import pandas
import pytest
import shapely

import assessment
from assessment import editions
from assessment.bundle.build import build
from assessment.bundle.bundle import Bundle
from assessment.bundle.sources import in_folder
from assessment.compute import compute
from assessment.intake.upload import nutrient_sites
from assessment.spec import JobSpec
from switchyard.errors import BadInput
from tests.unit.assessment.conftest import Call
from tests.unit.assessment.world import World, box, write_geojson

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return World().bundle()


def frame(**columns: Any) -> Any:
    shapes = [box(0, 0, 100, 100), box(9000, 0, 9100, 100), box(200, 0, 350, 80)]
    rows: dict[str, Any] = {"id": ["a", "b", "c"], "Name": [EVIL, None, "C"], "Dwel_Cat": "allocation"}
    rows |= {"Source": "test", "Dwellings": [10, 5, 60]}
    return geopandas.GeoDataFrame(rows | columns, geometry=shapes, crs=27700, index=[7, 8, 9])


@pytest.mark.parametrize("mode", ["default", "compatible"])
@pytest.mark.parametrize("edition", ["A", "C"])
def test_the_figures_of_a_file(bundle: Bundle, tmp_path: Path, mode: Any, edition: str) -> None:
    frame().to_file(tmp_path / "sites.gpkg")
    job = JobSpec("nutrient", editions.load(edition), mode)
    expected = compute(job, nutrient_sites(tmp_path / "sites.gpkg"), bundle)
    found = assessment.assess(frame(), bundle, mode=mode, edition=edition)
    for column in expected.main.columns:
        values = [None if pandas.isna(value) else value for value in found[column].tolist()]
        assert values == expected.main.values(column), column
    assert shapely.equals_exact(found.geometry.to_numpy(), expected.main.geometry).all()
    assert found.results is not None
    assert found.results.summary == expected.summary


@pytest.mark.parametrize("mode", ["default", "compatible"])
@pytest.mark.parametrize("surveyed", [True, False])
def test_newts_have_the_figures_of_the_command(
    tmp_path: Path, call: Call, mode: str, surveyed: bool, logging_as_before: None
) -> None:
    """All columns, all rows, all shapes, to the last digit; ponds too."""
    home = newt_bundle(tmp_path)
    sites = frame()[["id", "Name", "geometry"]]
    sites.to_file(tmp_path / "sites.gpkg")
    survey = geopandas.GeoDataFrame(
        {"PANS": ["P", "A", "P"], "TmpImp": ["T", "F", "F"]},
        geometry=[box(20, 20, 40, 33), box(90, 300, 99, 311), box(345, 70, 360, 90)],
        crs=27700,
    )
    survey.to_file(tmp_path / "survey.gpkg")
    words = ["--ponds", tmp_path / "survey.gpkg"] if surveyed else []
    said = ["-b", home, "-a", "gcn", "--mode", mode, "-o", tmp_path / "out", "-f", "parquet", "-q", *words]
    done = call("run", tmp_path / "sites.gpkg", *said)
    assert done.code == 0, done.err
    ponds = survey if surveyed else None
    found = assessment.assess(sites, home, assessment="gcn", mode=mode, ponds=ponds)
    expected = geopandas.read_parquet(tmp_path / "out" / "habitat.parquet")
    assert len(expected) > 3
    same = {"check_dtype": False, "check_exact": True}
    figures = found.drop(columns="geometry"), expected.drop(columns="geometry")
    pandas.testing.assert_frame_equal(*map(pandas.DataFrame, figures), **same)
    assert shapely.equals_exact(found.geometry.to_numpy(), expected.geometry.to_numpy()).all()
    listed = pandas.read_parquet(tmp_path / "out" / "ponds.parquet")
    assert len(listed) > 0
    pandas.testing.assert_frame_equal(found.table("ponds"), listed, **same)


def newt_bundle(folder: Path) -> Path:
    sources = folder / "layers"
    sources.mkdir()
    zones = [
        (box(0, 0, 150, 900), "Red"),
        (box(150, 0, 9050, 700), "Amber"),
        (box(9050, 0, 9900, 900), "Green"),
    ]
    write_geojson(sources / "gcn_risk_zones.geojson", [(shape, {"RZ": zone}) for shape, zone in zones])
    write_geojson(sources / "gcn_ponds.geojson", [(box(100, 50, 130, 70), {}), (box(9060, 80, 9070, 90), {})])
    build(in_folder(sources), folder / "bundle", lambda _: None)
    return folder / "bundle"


def test_rows_keep_the_index_of_their_site(bundle: Bundle) -> None:
    found = assessment.assess(frame(), bundle)
    assert found.index.tolist() == [7, 9]
    assert found.crs.to_epsg() == 27700
    assert found.table("out_of_scope")["id"].tolist() == ["b"]
    assert found.table("ponds").empty


def test_longitude_and_latitude_are_transformed(bundle: Bundle) -> None:
    found = assessment.assess(frame().to_crs(4326), bundle)
    assert found["Dev_Area_Ha"].tolist() == [1.0, 1.2]
    assert "converted from EPSG:4326" in found["warnings"].iloc[0]


def test_a_row_that_is_invalid_is_named(bundle: Bundle) -> None:
    with pytest.raises(BadInput, match=r"feature 2 \(b\): Dwellings is null"):
        assessment.assess(frame(Dwellings=[1, None, 2]), bundle)
    with pytest.raises(BadInput, match="declares no coordinate system"):
        assessment.assess(frame().set_crs(None, allow_override=True), bundle)


def test_it_shows_itself_as_a_map(tmp_path: Path) -> None:
    world = World()
    bundle = world._built(tmp_path)
    found = assessment.assess(frame(), bundle)
    html = found._repr_html_()
    assert html.count("<svg") == 1
    assert "2 of 3 sites in scope" in html
    assert EVIL not in html
    assert "N_Total" in html
    few = found[found["Dwellings"] > 20]
    assert few["id"].tolist() == ["c"]
    assert "<svg" not in few._repr_html_(), "the map of all sites is not that of some"


def test_an_interactive_map(bundle: Bundle) -> None:
    html = assessment.assess(frame(Name="n"), bundle).explore(column="N_Total").get_root().render()
    assert "N_Total" in html
    assert "L.map(" in html


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = assessment.nothing
