"""What is written is what others read: files by geopandas, texts of strangers as texts."""

import csv
import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import geopandas
import pandas
import pytest
import shapely

from assessment import editions
from assessment.bundle.bundle import Bundle
from assessment.compute import compute
from assessment.nutrient.columns import COLUMNS
from assessment.output import csv as csv_output
from assessment.output import geojson, geopackage, geoparquet
from assessment.output.deliver import deliver
from assessment.report.page import page
from assessment.results import Results
from assessment.sites import Sites
from assessment.spec import JobSpec
from switchyard.store import open_store
from tests.unit.assessment.world import PACKAGE, World, box, sites, works

EVIL = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return World().bundle()


@pytest.fixture(scope="module")
def batch() -> Sites:
    given = sites(box(0, 0, 100, 100), shapely.MultiPolygon([box(200, 0, 250, 50), box(300, 0, 350, 50)]))
    return replace(given, name=(EVIL, "=1+1"), id=('";drop', "b,\nc"))


@pytest.fixture(scope="module")
def results(bundle: Bundle, batch: Sites) -> Results:
    return compute(JobSpec("nutrient", editions.load()), batch, bundle, inputs={"sites": "ab" * 32})


def test_a_geopackage_that_gdal_reads(results: Results, tmp_path: Path) -> None:
    geopackage.write(tmp_path / "out.gpkg", results.tables)
    read = geopandas.read_file(tmp_path / "out.gpkg", layer="nutrient")
    assert read.crs.to_epsg() == 27700
    assert list(read.columns) == [*COLUMNS, "geometry"]
    assert read["Name"].tolist() == [EVIL, "=1+1"]
    assert read["N_Total"].tolist() == [row["N_Total"] for row in results.main.rows]
    assert read.geometry.area.tolist() == pytest.approx([10_000, 5_000])


def test_a_geoparquet_that_geopandas_reads(results: Results, tmp_path: Path) -> None:
    geoparquet.write(tmp_path / "out.parquet", results.main)
    read = geopandas.read_parquet(tmp_path / "out.parquet")
    assert read.crs.to_epsg() == 27700
    assert read["P_Total"].tolist() == [row["P_Total"] for row in results.main.rows]
    assert read.geometry.area.tolist() == pytest.approx([10_000, 5_000])


def test_geojson_in_longitude_and_latitude(results: Results, tmp_path: Path) -> None:
    geojson.write(tmp_path / "out.geojson", results.main)
    read = geopandas.read_file(tmp_path / "out.geojson")
    assert read.crs.to_epsg() == 4326
    assert read.to_crs(27700).geometry.area.tolist() == pytest.approx([10_000, 5_000], rel=1e-3)
    assert json.loads((tmp_path / "out.geojson").read_text())["features"][0]["properties"]["name"] == EVIL


def test_csv_in_order_and_without_formulas(results: Results, tmp_path: Path) -> None:
    csv_output.write(tmp_path / "out.csv", results.main)
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(COLUMNS)
    assert [row["Name"] for row in rows] == [EVIL, "'=1+1"]
    assert rows[1]["id"] == "b,\nc"
    assert pandas.read_csv(tmp_path / "out.csv")["N_Total"].tolist() == [
        r["N_Total"] for r in results.main.rows
    ]


def test_everything_delivered_with_its_hash(results: Results, tmp_path: Path) -> None:
    store = open_store(tmp_path.as_uri())
    files = deliver(results, store, "executions/u/r1", ["csv", "gpkg"], "<html>")
    assert set(files) == {"nutrient.csv", "nutrient.gpkg", "report.html", "output.json"}
    output = json.loads(store.get("executions/u/r1/output.json"))
    for file in output["files"]:
        assert sha256(store.get(file["key"])).hexdigest() == file["sha256"]
    assert output["provenance"]["input_sha256"] == "ab" * 32


def test_a_report_escapes_uploaded_texts(results: Results, batch: Sites, bundle: Bundle) -> None:
    html = page(results, batch, bundle, editions.load())
    assert EVIL not in html
    assert html.count("&lt;script&gt;") >= 2, "in the table and on the map"


def test_a_report_without_a_site_in_scope(bundle: Bundle) -> None:
    far = sites(box(50_000, 50_000, 50_100, 50_100))
    empty = compute(JobSpec("nutrient", editions.load()), far, bundle)
    assert not empty.main.rows
    assert "No site is in scope" in page(empty, far, bundle, editions.load())
    assert geojson.features(empty.main) == []


def test_empty_results_can_be_written(bundle: Bundle, tmp_path: Path) -> None:
    far = sites(box(50_000, 50_000, 50_100, 50_100))
    empty = compute(JobSpec("nutrient", editions.load()), far, bundle)
    files = deliver(empty, open_store(tmp_path.as_uri()), "", ["csv", "gpkg", "parquet", "geojson"], None)
    assert (tmp_path / files["nutrient.csv"]).read_text().startswith("RLB_ID,id,")
    assert len(geopandas.read_file(tmp_path / files["nutrient.gpkg"], layer="nutrient")) == 0


def test_sites_out_of_scope_have_a_table_of_their_own(bundle: Bundle, tmp_path: Path) -> None:
    """In every format, with the reason of each; the result itself has the rows in scope alone."""
    world = World(works=[(box(0, 0, 1000, 1000), {"WwTw_ID": 7}), (box(5000, 0, 6000, 1000), {"WwTw_ID": 8})])
    batch = sites(box(0, 0, 100, 100), box(5100, 0, 5200, 100), box(9000, 0, 9100, 100))
    found = compute(JobSpec("nutrient", editions.load()), batch, world.bundle())
    files = deliver(found, open_store(tmp_path.as_uri()), "", ["csv", "gpkg", "parquet", "geojson"], None)
    reasons = {
        2: "in no nutrient catchment, and its works 8 has no entry in the lookup",
        3: "in no nutrient catchment, and drains to no works: a package treatment plant is assumed",
    }
    listed = pandas.read_csv(tmp_path / files["out_of_scope.csv"])
    assert dict(zip(listed["RLB_ID"], listed["Reason"], strict=True)) == reasons
    assert len(pandas.read_csv(tmp_path / files["nutrient.csv"])) == 1
    layer = geopandas.read_file(tmp_path / files["nutrient.gpkg"], layer="out_of_scope")
    assert layer.geometry.area.tolist() == [10_000, 10_000]
    assert [each["Reason"] for each in found.summary["out_of_scope"]] == list(reasons.values())
    assert found.warnings == ["2 of 3 sites are out of scope: see out_of_scope for the reason of each"]
    report = page(found, batch, world.bundle(), editions.load())
    link = '<a href="#out-of-scope">Sites out of scope</a>'
    assert f"2 of 3 sites are out of scope: see {link} for the reason of each." in report
    assert '<h2 id="out-of-scope">' in report
    assert "see out_of_scope" not in report


def test_columns_have_their_type_even_where_they_are_empty(bundle: Bundle, tmp_path: Path) -> None:
    far = sites(box(50_000, 50_000, 50_100, 50_100))
    geoparquet.write(
        tmp_path / "out.parquet", compute(JobSpec("nutrient", editions.load()), far, bundle).main
    )
    types = geopandas.read_parquet(tmp_path / "out.parquet").dtypes
    assert (types["RLB_ID"], types["N_Total"]) == ("int64", "float64")


def test_a_code_of_a_works_that_is_not_a_number(tmp_path: Path) -> None:
    world = World(works=[(box(0, 0, 1000, 1000), {"WwTw_ID": "7a"})], works_table=[works("7a"), PACKAGE])
    found = world.assess(box(0, 0, 100, 100), box(2000, 0, 2100, 100))
    geoparquet.write(tmp_path / "out.parquet", found.main)
    assert geopandas.read_parquet(tmp_path / "out.parquet")["Majority_WwTw_ID"].tolist() == ["7a"]
