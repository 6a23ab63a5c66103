"""A bundle from every kind of file: other letters in the names, nulls, several parts, columns that nobody asked for."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import geopandas
import pandas
import pytest
import shapely

from assessment import editions
from assessment.bundle.build import build
from assessment.bundle.bundle import open_bundle
from assessment.bundle.sources import Sources, in_folder
from assessment.compute import compute
from assessment.results import Row
from assessment.spec import JobSpec
from switchyard.errors import BadInput
from tests.unit.assessment.world import PACKAGE, box, rate, sites, works

COEFFICIENTS = {"LU_CURR_N_COEFF": 20.0, "lu_curr_p_coeff": 0.5, "N_Resi_Coeff": 10.0, "p_resi_coeff": 1.0}
LAYERS: dict[str, list[tuple[Any, dict[str, Any]]]] = {
    "coefficient_layer": [(box(0, 0, 500, 1000), COEFFICIENTS), (box(500, 0, 1000, 1000), COEFFICIENTS)],
    "wwtw_catchments": [
        (shapely.MultiPolygon([box(0, 0, 400, 1000), box(410, 0, 1000, 1000)]), {"WWTW_ID": 7.0, "OID": 1})
    ],
    "lpa_boundaries": [(box(0, 0, 1000, 1000), {"name": "Süd"}), (box(0, 0, 10, 10), {"name": None})],
    "nn_catchments": [(box(0, 0, 600, 1000), {"N2K_SITE_N": "Mere"}), (box(600, 0, 900, 1000), {})],
    "subcatchments": [(box(0, 0, 1000, 1000), {"opcat_name": "Brook"})],
}
TABLES = {"WwTw_lookup": [works("7"), PACKAGE], "rates_lookup": [rate("Mere")]}


def frames() -> dict[str, Any]:
    return {
        name: geopandas.GeoDataFrame(
            [{"more": 1, **attributes} for _, attributes in rows],
            geometry=[shape for shape, _ in rows],
            crs="EPSG:27700",
        )
        for name, rows in LAYERS.items()
    }


def a_file_each(ending: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        for name, frame in frames().items():
            if ending == "parquet":
                frame.to_parquet(folder / f"{name}.parquet")
            else:
                frame.to_file(folder / f"{name}.{ending}")
        for name, rows in TABLES.items():
            pandas.DataFrame(rows).to_csv(folder / f"{name.upper()}.csv", index=False)

    return write


def all_in_one(folder: Path) -> None:
    """One GeoPackage with every layer, and the tables among them."""
    path = folder / "reference.gpkg"
    for name, frame in frames().items():
        frame.to_file(path, layer=name.upper())
    connection = sqlite3.connect(path)
    for name, rows in TABLES.items():
        pandas.DataFrame(rows).to_sql(name, connection, index=False)
    connection.close()


def test_a_layer_inside_a_file_is_named_after_a_colon(tmp_path: Path) -> None:
    all_in_one(tmp_path)
    sources = Sources()
    sources.add("lpa_boundaries", f"{tmp_path / 'reference.gpkg'}:LPA_BOUNDARIES")
    sources.add("rates_lookup", str(tmp_path / "reference.gpkg"))
    made = build(sources, tmp_path / "bundle", lambda _: None)
    assert (made.layers["lpa_boundaries"].features, made.tables) == (2, {"rates_lookup": 1})
    with sqlite3.connect(tmp_path / "reference.gpkg") as connection:
        connection.execute("drop table rates_lookup")
    connection.close()
    with pytest.raises(BadInput, match=r"reference.gpkg has no table rates_lookup"):
        build(sources, tmp_path / "bundle", lambda _: None)


@pytest.mark.parametrize(("inner", "count"), [("Old", 2), ("OLDER", 3), ("rates_lookup", 1)])
def test_a_table_inside_a_file_is_named_after_a_colon(tmp_path: Path, inner: str, count: int) -> None:
    all_in_one(tmp_path)
    path = tmp_path / "reference.gpkg"
    with sqlite3.connect(path) as connection:
        for table, times in (("Old", 2), ("older", 3)):
            pandas.DataFrame([*TABLES["rates_lookup"]] * times).to_sql(table, connection, index=False)
    connection.close()
    sources = Sources()
    sources.add("lpa_boundaries", f"{path}:LPA_BOUNDARIES")
    sources.add("rates_lookup", f"{path}:{inner}")
    assert build(sources, tmp_path / "bundle", lambda _: None).tables == {"rates_lookup": count}


def test_a_table_that_is_not_inside_is_reported(tmp_path: Path) -> None:
    all_in_one(tmp_path)
    (tmp_path / "rates.csv").write_text("a,b\n1,2\n")
    whys = {
        "reference.gpkg": "reference.gpkg has no table none",
        "rates.csv": "rates.csv is not a SQLite file",
    }
    for file, why in whys.items():
        sources = Sources()
        sources.add("lpa_boundaries", f"{tmp_path / 'reference.gpkg'}:LPA_BOUNDARIES")
        sources.add("rates_lookup", f"{tmp_path / file}:none")
        with pytest.raises(BadInput, match=why):
            build(sources, tmp_path / "bundle", lambda _: None)


def rows_from(write: Callable[[Path], None], folder: Path) -> list[Row]:
    (folder / "in").mkdir()
    write(folder / "in")
    build(in_folder(folder / "in"), folder / "bundle", lambda _: None)
    site = sites(box(300, 300, 700, 700), box(850, 850, 950, 950))
    results = compute(JobSpec("nutrient", editions.load()), site, open_bundle(folder / "bundle"))
    return list(results.main.rows)


@pytest.mark.filterwarnings("ignore:Column names longer than 10 characters:UserWarning")
@pytest.mark.filterwarnings("ignore:Normalized/laundered field name:RuntimeWarning")
@pytest.mark.parametrize("kind", ["shp", "gpkg", "geojson", "parquet", "one"])
def test_the_same_rows_from_every_kind_of_file(tmp_path: Path, kind: str) -> None:
    large, small = rows_from(all_in_one if kind == "one" else a_file_each(kind), tmp_path)
    assert large["Majority_LPA"] == "Süd"
    assert large["Majority_WwTw_ID"] == 7
    assert large["WwTW_name"] == "Works 7"
    assert large["Dev_SubCatchment"] == "Brook"
    assert large["NN_Catchment"] == "Mere"
    assert large["AreaInNNCatchment"] == 16.0, "ground in the catchment without a name counts"
    assert large["N_LU_Uplift"] == round((0.8 * 10 + 0.2 * 3 - 20) * 16, 2)
    assert (small["NN_Catchment"], small["AreaInNNCatchment"]) == ("", 0.5)
