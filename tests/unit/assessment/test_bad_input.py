"""Bad input: each kind ends in one sentence that names what is wrong and where, and never in a traceback."""

import json
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assessment.intake.fetch import fetched
from assessment.intake.upload import gcn_sites, nutrient_sites
from assessment.request import Given, parse
from switchyard.errors import BadInput
from switchyard.store.file import FileStore
from tests.unit.assessment.files import DONUT, frame, members, refused, write, zipped
from tests.unit.assessment.world import box

LINE = shapely.linestrings([(600_000, 300_000), (600_100, 300_000), (600_200, 300_000)])
FLAT = shapely.Polygon([(600_000, 300_000), (600_100, 300_000), (600_200, 300_000), (600_000, 300_000)])


Make = Callable[[Path], Any]
TWO_SITES = [box(0, 0, 10, 10), box(20, 0, 30, 10)]
SITES: dict[str, tuple[Make, str]] = {
    "missing attribute": (lambda _: frame().drop(columns="Dwellings"), "attribute Dwellings is missing"),
    "no CRS": (lambda _: frame(crs=None), "no coordinate system"),
    "null id": (lambda _: frame(TWO_SITES, id=["a", None]), "feature 2: id is null"),
    "null dwellings": (
        lambda _: frame(TWO_SITES, id=["a", "b"], Dwellings=[1, None]),
        r"feature 2 \(b\): Dwellings is null",
    ),
    "null category": (lambda _: frame(Dwel_Cat=[None]), r"feature 1 \(S1\): Dwel_Cat is null"),
    "negative dwellings": (lambda _: frame(Dwellings=-3), r"feature 1 \(S1\): Dwellings is negative"),
    "fractional dwellings": (
        lambda _: frame(Dwellings=2.5),
        r"feature 1 \(S1\): Dwellings is not a whole number",
    ),
    "dwellings in words": (lambda _: frame(Dwellings="many"), "Dwellings is not a number: 'many'"),
    "absurd dwellings": (lambda _: frame(Dwellings=10**9), "Dwellings is more than 1,000,000"),
    "no geometry": (
        lambda _: frame([box(0, 0, 1, 1), None], id=["a", "b"]),
        r"feature 2 \(b\): has no geometry",
    ),
    "empty geometry": (lambda _: frame([shapely.Polygon()]), "has no geometry"),
    "line": (
        lambda _: frame([LINE]),
        r"feature 1 \(S1\): is a LineString; Polygon or MultiPolygon is needed",
    ),
    "mixed": (
        lambda _: frame([box(0, 0, 9, 9), shapely.Point(600_000, 300_000)], id=["a", "b"]),
        r"feature 2 \(b\): is a Point",
    ),
    "no area": (
        lambda _: frame([FLAT]),
        r"feature 1 \(S1\): the geometry is invalid and cannot be repaired|has no area",
    ),
    "outside": (lambda _: frame([shapely.box(700_001, 5, 700_050, 50)]), "outside E 0-700,000 N 0-1,300,000"),
    "degrees as metres": (
        lambda _: frame([shapely.box(-1.5, 51, -1.4, 51.1)]),
        "look like longitude and latitude",
    ),
    "metres as degrees": (lambda _: frame(crs="EPSG:4326"), "coordinates are not longitude and latitude"),
    "no features": (lambda _: frame([]), "no features"),
}


CANNOT_HOLD = {("line", "zip"), ("mixed", "zip"), ("no CRS", "geojson"), ("empty geometry", "zip")}
"""A shapefile has one kind of shape and no empty one, GeoJSON always has a coordinate system."""
SUFFIXES = ("zip", "gpkg", "geojson", "parquet")
CASES = [(case, suffix) for case in SITES for suffix in SUFFIXES if (case, suffix) not in CANNOT_HOLD]


@pytest.mark.parametrize(("case", "suffix"), CASES)
@pytest.mark.filterwarnings("ignore::UserWarning:pyogrio")
def test_sites_that_make_no_sense(tmp_path: Path, case: str, suffix: str) -> None:
    make, message = SITES[case]
    refused(write(tmp_path / f"sites.{suffix}", make(tmp_path)), message)


def test_dwellings_as_whole_floats_of_every_format(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        given = frame(TWO_SITES, id=["a", "b"], Dwellings=[1.0, 250.0])
        assert nutrient_sites(write(tmp_path / f"sites.{suffix}", given)).dwellings == (1, 250)


def test_files_that_do_not_hold_sites(tmp_path: Path) -> None:
    for name, content, message in (
        ("empty", b"", "is empty"),
        ("text", b"hello there", "is of an unknown format; a zipped shapefile"),
        ("wide.json", '{"type": "FeatureCollection"}'.encode("utf-16"), "text in UTF-16"),
        ("cut.json", b'{"type": "FeatureCollection", "features": [', "cannot be read"),
        ("list.json", b"[1, 2]", "not a GeoJSON FeatureCollection|damaged or incomplete"),
        (
            "latin.json",
            '{"type": "FeatureCollection", "features": [], "a": "é"}'.encode("latin-1"),
            "not UTF-8",
        ),
        ("nan.json", b'{"type": "FeatureCollection", "features": [], "a": NaN}', "NaN"),
        ("deep.json", b'{"a":' * 100_000, "cannot be read"),
        ("half.parquet", b"PAR1 and no more", "not a valid Parquet file"),
        ("half.gpkg", b"SQLite format 3\0 and no more", "damaged or incomplete"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        refused(path, message)
    refused(tmp_path / "absent.zip", "cannot read")


def test_a_geometry_that_is_nonsense(tmp_path: Path) -> None:
    for number, geometry in enumerate(
        (
            {"type": "Polygon", "coordinates": "x"},
            {"type": "Blob"},
            7,
            {"type": "Polygon", "coordinates": [[[1, 2]]]},
        )
    ):
        path = geojson(tmp_path / f"{number}.json", geometry=geometry)
        refused(path, r"feature 1 \(a\): has no geometry, or one that cannot be read|cannot be read")


GROUND = {
    "type": "Polygon",
    "coordinates": [[[6e5, 3e5], [600_100, 3e5], [600_100, 300_100], [6e5, 300_100], [6e5, 3e5]]],
}


def geojson(path: Path, crs: object = "EPSG:27700", geometry: object = None, **changed: Any) -> Path:
    """One feature; a `crs` that is a text is a name, anything else the member itself."""
    good = {"id": "a", "Name": None, "Dwel_Cat": "x", "Source": "y", "Dwellings": 1, **changed}
    member = {"type": "name", "properties": {"name": crs}} if isinstance(crs, str) else crs
    feature = {"type": "Feature", "properties": good, "geometry": geometry or GROUND}
    path.write_text(json.dumps({"type": "FeatureCollection", "crs": member, "features": [feature]}))
    return path


@pytest.mark.parametrize(
    ("crs", "message"),
    [
        (None, 'the GeoJSON says "crs": null'),
        ({}, "the CRS is geographic, but the coordinates are not"),
        (7, "the CRS is geographic, but the coordinates are not"),
        ({"properties": "EPSG:27700"}, "the CRS is geographic, but the coordinates are not"),
        (
            'LOCAL_CS["a field",UNIT["metre",1]]',
            "the coordinate system .* cannot be transformed to EPSG:27700",
        ),
        ("EPSG:5701", "feature 1: coordinates cannot be transformed from EPSG:5701 to EPSG:27700"),
    ],
)
def test_systems_that_lead_nowhere(tmp_path: Path, crs: object, message: str) -> None:
    refused(geojson(tmp_path / "sites.json", crs), message)


def test_a_single_feature_is_a_site(tmp_path: Path) -> None:
    document = json.loads(geojson(tmp_path / "sites.json").read_text())
    single = {**document["features"][0], "crs": document["crs"]}
    (tmp_path / "one.json").write_text(json.dumps(single))
    assert nutrient_sites(tmp_path / "one.json").area == pytest.approx([10_000])


@pytest.mark.parametrize("number", ["1e999", "1" + "0" * 400])
def test_numbers_larger_than_any(tmp_path: Path, number: str) -> None:
    path = geojson(tmp_path / "sites.json")
    path.write_text(path.read_text().replace('"Dwellings": 1', f'"Dwellings": {number}'))
    refused(path, "Unrecognized number")
    path.write_text(path.read_text().replace(f'"Dwellings": {number}', f'"Dwellings": -{number}'))
    refused(path, "Unrecognized number")
    path = geojson(path)
    path.write_text(path.read_text().replace("600100", number))
    refused(path, "Unrecognized number")


def test_half_of_a_character_is_none(tmp_path: Path) -> None:
    """JSON can say it and UTF-8 cannot, so that no result could be written."""
    assert nutrient_sites(geojson(tmp_path / "sites.json", Name="a\ud800b")).name == ("a\ufffdb",)


def test_a_sliver_below_the_precision_of_numbers(tmp_path: Path) -> None:
    far = (521320.9975106174, 437906.7448804534)
    ring = [(100051.18216247002, 100095.04636963259), far, (198331.7760365021, 178905.18927009508)]
    path = geojson(tmp_path / "sites.json", geometry={"type": "Polygon", "coordinates": [[*ring, ring[0]]]})
    assert shapely.is_valid(shapely.Polygon(ring))
    refused(path, r"feature 1 \(a\): the geometry has no area")


def test_a_sqlite_file_that_is_not_a_geopackage(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "plain.gpkg") as connection:
        connection.execute("create table t (a)")
    connection.close()
    refused(tmp_path / "plain.gpkg", "required GeoPackage tables, .* is missing")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("/etc/sites.shp", "absolute"),
        ("../sites.shp", r"'\.\.'"),
        ("a/../../sites.shp", r"'\.\.'"),
        ("C:\\sites.shp", "absolute or strange"),
        ("..\\sites.shp", r"'\.\.'"),
        ("a/b/sites.shp", "more than one folder deep"),
    ],
)
def test_paths_in_a_zip(tmp_path: Path, name: str, message: str) -> None:
    good = members(tmp_path)
    entries = {name[: -len("shp")] + suffix.split(".")[-1]: content for suffix, content in good.items()}
    refused(zipped(tmp_path / "bad.zip", entries), message)


def test_zips_that_are_not_what_they_should_be(tmp_path: Path) -> None:
    good = members(tmp_path)
    refused(zipped(tmp_path / "none.zip", {"readme.txt": b"hello"}), "contains no vector file")
    refused(
        zipped(tmp_path / "two.zip", {**good, "more.shp": good["sites.shp"]}),
        "2 vector files .*; exactly one",
    )
    refused(
        zipped(tmp_path / "nodbf.zip", {k: v for k, v in good.items() if not k.endswith("dbf")}),
        "attribute id",
    )
    refused(
        zipped(tmp_path / "noprj.zip", {k: v for k, v in good.items() if not k.endswith("prj")}),
        "no coordinate system",
    )
    whole = zipped(tmp_path / "whole.zip", good).read_bytes()
    for share in (0.3, 0.6, 0.95):
        cut = tmp_path / "cut.zip"
        cut.write_bytes(whole[: int(len(whole) * share)])
        refused(cut, "damaged or cut short")


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    good = members(tmp_path)
    bomb = good["sites.shp"] + bytes(60 * 2**20)
    refused(zipped(tmp_path / "bomb.zip", {**good, "sites.shp": bomb}), "bomb")


def test_a_zip_that_states_a_wrong_size(tmp_path: Path) -> None:
    good = members(tmp_path)
    path = zipped(tmp_path / "liar.zip", {**good, "sites.dbf": good["sites.dbf"] + bytes(40 * 2**20)})
    content = path.read_bytes().replace(
        struct.pack("<I", len(good["sites.dbf"]) + 40 * 2**20), struct.pack("<I", 500)
    )
    path.write_bytes(content)
    with pytest.raises(BadInput):
        nutrient_sites(path)


def test_an_encrypted_zip(tmp_path: Path) -> None:
    path = zipped(tmp_path / "locked.zip", members(tmp_path))
    content = bytearray(path.read_bytes())
    at = content.find(b"PK\x01\x02")
    while at >= 0:
        content[at + 8] |= 1
        at = content.find(b"PK\x01\x02", at + 4)
    path.write_bytes(content)
    refused(path, "encrypted")


def test_a_link_in_a_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        entry = zipfile.ZipInfo("sites.shp")
        entry.external_attr = 0o120777 << 16
        archive.writestr(entry, "/etc/passwd")
    refused(tmp_path / "link.zip", "symbolic link")


def test_a_shapefile_of_two_gigabytes(tmp_path: Path) -> None:
    """Sparse, so it costs nothing to make; it must cost nothing to refuse."""
    members(tmp_path)
    with (tmp_path / "sites.shp").open("r+b") as file:
        file.truncate(2 * 2**30)
    refused(tmp_path / "sites.shp", "at most 512 MiB")


def test_encodings_that_do_not_fit(tmp_path: Path) -> None:
    """Text only: it is read as Windows-1252, and the result says so."""
    good = members(tmp_path)
    dbf = good["sites.dbf"].replace(b"Field", b"F\xe9\xe8ld")
    cases = ((b"UTF-8", "do not fit the declared encoding"), (b"Klingon", "unknown encoding, 'Klingon'"))
    for cpg, remark in cases:
        sites = nutrient_sites(zipped(tmp_path / "odd.zip", {**good, "sites.dbf": dbf, "sites.cpg": cpg}))
        assert sites.name == ("Féèld",)
        assert remark in sites.remarks[0]


def test_an_unknown_coordinate_system(tmp_path: Path) -> None:
    good = members(tmp_path)
    refused(
        zipped(tmp_path / "crs.zip", {**good, "sites.prj": b'PROJCS["Nowhere"]'}),
        "missing CONVERSION node",
    )


def test_shapefiles_of_other_shapes(tmp_path: Path) -> None:
    refused(write(tmp_path / "sites.shp", frame([LINE])), "is a LineString; Polygon or MultiPolygon")


@pytest.mark.parametrize("suffix", [".shp", ".dbf"])
def test_a_damaged_shapefile_is_bad_input_or_still_sound(tmp_path: Path, suffix: str) -> None:
    """Cut anywhere, and with any byte changed: a BadInput or an answer, never another error."""
    good = members(tmp_path)
    target = tmp_path / f"sites{suffix}"
    content = good[target.name]
    generator = np.random.default_rng(5)
    for cut in range(0, len(content), 41):
        target.write_bytes(content[:cut])
        _answer_or_refusal(tmp_path / "sites.shp")
    for _ in range(25):
        changed = bytearray(content)
        for at in generator.integers(0, len(content), 3):
            changed[at] = generator.integers(0, 256)
        target.write_bytes(changed)
        _answer_or_refusal(tmp_path / "sites.shp")


def _answer_or_refusal(path: Path) -> None:
    try:
        nutrient_sites(path)
    except BadInput:
        return


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=400),
    head=st.sampled_from(
        [b"", b"PK\x03\x04", b"PAR1", b"SQLite format 3\0", b"\x00\x00\x27\x0a", b'{"type"']
    ),
)
def test_any_bytes_at_all(tmp_path: Path, content: bytes, head: bytes) -> None:
    path = tmp_path / "any"
    path.write_bytes(head + content)
    with pytest.raises(BadInput):
        nutrient_sites(path)


def test_newts_need_the_geometry_alone(tmp_path: Path) -> None:
    given_sites = frame([DONUT])[["geometry"]]
    assert len(gcn_sites(write(tmp_path / "sites.gpkg", given_sites))) == 1
    with pytest.raises(BadInput, match="feature 1: is a LineString"):
        gcn_sites(write(tmp_path / "lines.gpkg", frame([LINE])[["geometry"]]))


class Vanishing(FileStore):
    """Somebody else deletes an object between two looks at it."""

    def open(self, key: str) -> BinaryIO:
        self.delete(key)
        return super().open(key)


def test_inputs_that_are_not_there_or_too_large(tmp_path: Path) -> None:
    store = Vanishing(tmp_path)
    store.put("sites", bytes(2**20 + 1))
    for given_input, source, message in (
        (Given(key="absent"), store, "the input 'absent' is not in the store"),
        (Given(key="sites"), None, "the input is the key 'sites', but no store is configured"),
        (Given(key="sites"), store, "the input has 1 MiB; at most 1 MiB are accepted"),
    ):
        with pytest.raises(BadInput, match=message), fetched(given_input, source, limit=2**20):
            pass
    with (
        pytest.raises(BadInput, match="the input 'sites' is not in the store"),
        fetched(Given(key="sites"), store),
    ):
        pass


@pytest.mark.parametrize(
    ("request_body", "message"),
    [
        ({"assessment": "bats"}, "not known; there are nutrient, gcn"),
        ({"mode": "fast"}, "mode 'fast'"),
        ({"edition": "Z"}, "edition 'Z' is not known"),
        ({"edition": 3}, "not a name"),
        ({"input": {}}, "exactly one of key, url and geojson"),
        ({"input": {"key": "a", "url": "b"}}, "exactly one"),
        ({"input": {"key": None}}, "exactly one"),
        ({"ponds": {"url": 7}}, "url must be a text, not 7"),
        ({"input": {"geojson": {"x": "y" * 300_000}}}, "at most 262,144"),
        ({"formats": ["docx"]}, "format 'docx'"),
        ({"formats": "csv"}, "list of names"),
        ({"bundle": 3}, "bundle must be a text"),
    ],
)
def test_requests_that_make_no_sense(request_body: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        parse(request_body)
