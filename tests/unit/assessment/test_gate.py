"""The quality gate: what keeps a bundle from being used, and what is only said."""

import json
from pathlib import Path

import numpy as np
import pytest
import shapely

from assessment.bundle import versions
from assessment.bundle.build import build
from assessment.bundle.bundle import open_bundle
from assessment.bundle.check import check
from assessment.bundle.sources import Sources, in_folder
from switchyard.errors import BadInput, ConfigError
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
    assert "the first is used: 7" in text
    assert "1 of 5 rows have no code" in text
    assert "Phosphorus_2025_2030 is not a number and counts as null: '?'" in text
    assert "'Mere' has no row in rates_lookup" in text


def test_a_clean_world_has_no_findings(world: World) -> None:
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


def test_lookups_alone_are_warned_of_and_zones_have_three_names(tmp_path: Path) -> None:
    rows = [(box(0, 0, 9, 9), {"RZ": "Red"}), (box(9, 0, 18, 9), {"RZ": "Purple"})]
    write_geojson(tmp_path / "gcn_risk_zones.geojson", rows[:1])
    write_csv(tmp_path / "WwTw_lookup.csv", [works(None), PACKAGE])
    write_csv(tmp_path / "rates_lookup.csv", [rate("Mere"), {**rate("Fen"), "Occ_Rate": "many"}])
    made = build(in_folder(tmp_path), tmp_path / "home", lambda _: None)
    assert [str(finding) for finding in made.findings] == [
        "warning: WwTw_lookup: 1 of 2 rows have no code",
        "warning: rates_lookup: 1 rows have no usable rates",
    ]
    assert list(open_bundle(tmp_path / "home").lookups.rates) == ["Mere"], "the standard rates are used"
    write_geojson(tmp_path / "gcn_risk_zones.geojson", rows)
    with pytest.raises(BadInput, match="gcn_risk_zones: RZ is none of Red, Amber, Green: Purple"):
        build(in_folder(tmp_path), tmp_path / "home", lambda _: None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read .*rates_lookup.csv: No such file or directory"),
        (b"", "rates_lookup: rates_lookup.csv has no rows"),
        (b"NN_Catchment,Occ_Rate,Water_Usage_L_Day\n", "rates_lookup: rates_lookup.csv has no rows"),
        (b"NN_Catchment\n\xff\n", "rates_lookup.csv is not CSV in UTF-8"),
        (b"NN_Catchment\n" + b"x" * 200_000, "rates_lookup.csv is not CSV in UTF-8: field larger"),
    ],
)
def test_lookups_that_cannot_be_read(tmp_path: Path, content: bytes | None, message: str) -> None:
    sources = layer_of(tmp_path, 1)
    path = tmp_path / "rates_lookup.csv"
    if content is not None:
        path.write_bytes(content)
    sources.add("rates_lookup", str(path))
    with pytest.raises(BadInput, match=message):
        build(sources, tmp_path / "home", lambda _: None)


def test_the_same_sources_are_the_same_version(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    made = [build(layer_of(tmp_path / "in", 5), tmp_path / home, lambda _: None) for home in ("a", "b", "a")]
    assert len({manifest.version for manifest in made}) == 1
    assert check(tmp_path / "a") == []
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"current", made[0].version}


def test_the_version_before_stays_also_where_it_is_not_the_second_newest(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    old, new, again, newest = (
        build(layer_of(tmp_path / "in", count), tmp_path / "b", lambda _: None) for count in (10, 11, 10, 12)
    )
    assert old.version == again.version
    assert {path.name for path in (tmp_path / "b").iterdir()} == {
        "current",
        *(made.version for made in (old, new, newest)),
    }
    assert check(tmp_path / "b" / old.version) == [], "jobs that began with it may still read it"


def test_a_version_that_cannot_be_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        versions.publish(tmp_path, tmp_path / "nothing", "20260101-abc")
    assert versions.current(tmp_path) is None


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    made = build(layer_of(tmp_path, 1), tmp_path / "home", lambda _: None)
    (tmp_path / "home" / made.version / "lpa_boundaries" / "area.npy").unlink()
    assert [str(finding) for finding in check(tmp_path / "home")] == [
        "error: lpa_boundaries/area.npy: is missing"
    ]


def test_features_without_ground_are_counted_and_a_layer_of_them_alone_is_refused(tmp_path: Path) -> None:
    point = shapely.Point(600_000, 300_000)
    rows = [(point, {"NAME": "a"}), (shapely.Polygon(), {"NAME": "b"}), (box(0, 0, 9, 9), {"NAME": "c"})]
    write_geojson(tmp_path / "lpa_boundaries.geojson", rows)
    made = build(in_folder(tmp_path), tmp_path / "home", lambda _: None)
    assert [str(finding) for finding in made.findings] == ["warning: lpa_boundaries: 2 features have no area"]
    write_geojson(tmp_path / "lpa_boundaries.geojson", rows[:2])
    with pytest.raises(BadInput, match="lpa_boundaries: no feature has any area"):
        build(in_folder(tmp_path), tmp_path / "other", lambda _: None)


def test_coefficients_as_text_are_numbers_where_they_are_some(world: World) -> None:
    shape, values = parcel(box(0, 0, 1000, 500))
    shapes = (shape, box(0, 500, 1000, 1000))
    odd = world.but(
        parcels=[(shapes[k], {**values, "lu_curr_n_coeff": said}) for k, said in enumerate(("12.5", "n/a"))]
    )
    assert said(odd) == [
        "warning: coefficient_layer: lu_curr_n_coeff is not a number in 1 of 2 parcels",
    ]
    found = odd.bundle().layer("coefficient_layer").numbers("lu_curr_n_coeff")
    assert float(np.nanmin(found)) == 12.5


def test_broken_geometries_are_repaired_and_counted(world: World) -> None:
    bow = shapely.Polygon([(600_000, 300_000), (600_100, 300_100), (600_100, 300_000), (600_000, 300_100)])
    assert any(
        "1 invalid geometries were repaired" in line
        for line in said(world.but(authorities=[(bow, {"NAME": "x"})]))
    )


def test_an_assessment_that_the_bundle_cannot_do(world: World) -> None:
    with pytest.raises(BadInput, match="cannot do a gcn assessment: no gcn_risk_zones"):
        world.bundle().require("gcn")


def test_an_assessment_that_the_bundle_was_built_for_in_part_only(tmp_path: Path) -> None:
    """Nobody who asks for it can do anything about that."""
    folder = World()._built(tmp_path).folder
    manifest = json.loads((folder / "manifest.json").read_text())
    for part, name in (("layers", "nn_catchments"), ("tables", "rates_lookup")):
        del manifest[part][name]
        (folder / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(ConfigError, match=f"cannot do a nutrient assessment: no .*{name}; build it"):
            open_bundle(folder).require("nutrient")


def test_sources_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no layer to build a bundle from"):
        build(Sources(), tmp_path / "home", lambda _: None)
    with pytest.raises(
        BadInput, match="'ponds' is not a layer or table of a bundle; known are coefficient_layer"
    ):
        Sources().add("ponds", "ponds.gpkg")
    with pytest.raises(BadInput, match="nowhere is not a folder"):
        in_folder(tmp_path / "nowhere")


def test_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not contain a reference bundle"):
        open_bundle(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": 99}')
    with pytest.raises(ConfigError, match="rebuild the bundle"):
        open_bundle(tmp_path)
