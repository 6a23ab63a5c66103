"""The quality gate: what keeps a bundle from being used, and what is only said."""

from pathlib import Path

import pytest
import shapely

from assessment.bundle.build import build
from assessment.bundle.bundle import open_bundle
from assessment.bundle.check import check
from assessment.bundle.sources import Sources, in_folder
from switchyard.errors import BadInput
from tests.unit.assessment.world import PACKAGE, World, box, parcel, rate, works, write_csv, write_geojson


def said(world: World) -> list[str]:
    return [str(finding) for finding in world.bundle().manifest.findings]


@pytest.mark.parametrize(
    ("n", "p", "message"),
    [
        (51.0, 0.1, "lu_curr_n_coeff outside 0-50"),
        (-0.1, 0.1, "lu_curr_n_coeff outside 0-50"),
        (5.0, 5.1, "lu_curr_p_coeff outside 0-5"),
    ],
)
def test_coefficients_out_of_range(world: World, n: float, p: float, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        world.but(parcels=[parcel(box(0, 0, 9, 9), n, p)]).bundle()


def test_warnings_about_the_lookups(world: World) -> None:
    odd = world.but(
        works=[(box(0, 0, 10, 10), {"WwTw_ID": 7}), (box(10, 0, 20, 10), {"WwTw_ID": 99})],
        works_table=[works("7"), works("7"), works(None), works("8", Phosphorus_2025_2030="?"), PACKAGE],
        rates=[rate("Elsewhere")],
    )
    text = "\n".join(said(odd))
    assert "1 of 2 works codes are not in the lookup: 99" in text
    assert "the first stands: 7" in text
    assert "1 of 5 rows have no code" in text
    assert "Phosphorus_2025_2030 is no number and counts as null: '?'" in text
    assert "'Mere' has no row in rates_lookup" in text


def test_a_clean_world_has_nothing_to_say(world: World) -> None:
    assert said(world) == []


def test_the_sample_is_warned_of(nrf: Path, tmp_path: Path) -> None:
    manifest = build(in_folder(nrf / "reference"), tmp_path, lambda _: None)
    text = "\n".join(map(str, manifest.findings))
    assert "23 of 56 works codes are not in the lookup" in text
    assert "128 of 641 rows have no code" in text
    assert "'f'" in text
    assert "'?'" in text


def layer_of(folder: Path, count: int, crs: str | None = "EPSG:27700") -> Sources:
    write_geojson(
        folder / "lpa_boundaries.geojson",
        [(box(k, 0, k + 1, 1), {"NAME": str(k)}) for k in range(count)],
        crs,
    )
    return in_folder(folder)


def test_a_layer_that_shrank(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    build(layer_of(tmp_path / "in", 100), tmp_path / "home", lambda _: None)
    build(layer_of(tmp_path / "in", 90), tmp_path / "home", lambda _: None)
    before = open_bundle(tmp_path / "home").version
    with pytest.raises(BadInput, match=r"lpa_boundaries: 80 rows, under 90 % of the 90"):
        build(layer_of(tmp_path / "in", 80), tmp_path / "home", lambda _: None)
    assert open_bundle(tmp_path / "home").version == before
    assert not list((tmp_path / "home").glob(".building*"))


def test_another_coordinate_system(tmp_path: Path) -> None:
    sources = layer_of(tmp_path, 3, "EPSG:4326")
    with pytest.raises(
        BadInput, match="lpa_boundaries: the coordinate system is EPSG:4326; EPSG:27700 is needed"
    ):
        build(sources, tmp_path / "home", lambda _: None)


def test_a_missing_attribute(tmp_path: Path) -> None:
    write_geojson(tmp_path / "lpa_boundaries.geojson", [(box(0, 0, 1, 1), {"TITLE": "x"})])
    with pytest.raises(BadInput, match="lpa_boundaries: the attribute NAME is missing; there are TITLE"):
        build(in_folder(tmp_path), tmp_path / "home", lambda _: None)


def test_a_missing_column_of_a_lookup(tmp_path: Path) -> None:
    sources = layer_of(tmp_path, 1)
    write_csv(tmp_path / "rates_lookup.csv", [{"NN_Catchment": "x", "Occ_Rate": 1}])
    sources.add("rates_lookup", str(tmp_path / "rates_lookup.csv"))
    with pytest.raises(BadInput, match="rates_lookup: the column Water_Usage_L_Day is missing"):
        build(sources, tmp_path / "home", lambda _: None)


def test_the_same_sources_are_the_same_version(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    first = build(layer_of(tmp_path / "in", 5), tmp_path / "a", lambda _: None)
    second = build(layer_of(tmp_path / "in", 5), tmp_path / "b", lambda _: None)
    assert first.version == second.version
    assert check(tmp_path / "a") == []


def test_broken_geometries_are_repaired_and_counted(world: World) -> None:
    bow = shapely.Polygon([(600_000, 300_000), (600_100, 300_100), (600_100, 300_000), (600_000, 300_100)])
    assert any(
        "1 invalid geometries were repaired" in line
        for line in said(world.but(authorities=[(bow, {"NAME": "x"})]))
    )


def test_an_assessment_that_the_bundle_cannot_do(world: World) -> None:
    with pytest.raises(BadInput, match="cannot do a gcn assessment: no gcn_risk_zones"):
        world.bundle().require("gcn")


def test_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no reference bundle"):
        open_bundle(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": 99}')
    with pytest.raises(BadInput, match="build the bundle anew"):
        open_bundle(tmp_path)
