"""Files that are damaged or hostile below their format's surface: refused in one sentence, or read as what they are."""

import json
import math
import random
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import shapely

from assessment.formats import shapefile
from assessment.formats.open import open_source
from assessment.intake import accept
from assessment.intake.accept import gcn_sites, nutrient_sites
from switchyard.errors import BadInput
from tests.unit.assessment.files import DONUT, TWO, frame, members, refused, write, zipped
from tests.unit.assessment.world import box

TWO_SITES = [box(0, 0, 10, 10), box(20, 0, 30, 10)]


# zips


def renamed(folder: Path, method: int = zipfile.ZIP_DEFLATED, **names: str) -> Path:
    """A good shapefile in a zip, with entries under other names."""
    path = folder / "sites.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members(folder).items():
            archive.writestr(names.get(name.rpartition(".")[2], name), content)
    return path


def patched(path: Path, head: bytes, at: int, content: bytes) -> Path:
    """The file with bytes changed in every record that begins with `head`."""
    raw = bytearray(path.read_bytes())
    found = raw.find(head)
    while found >= 0:
        raw[found + at : found + at + len(content)] = content
        found = raw.find(head, found + 4)
    path.write_bytes(raw)
    return path


def test_a_zip_packed_in_a_rare_way(tmp_path: Path) -> None:
    refused(renamed(tmp_path, zipfile.ZIP_LZMA), "packs 'sites.cpg' with a method other than deflate")
    refused(patched(renamed(tmp_path), b"PK\x01\x02", 6, b"\xff"), "cannot be read: zip file version")


def test_a_zip_with_two_tables_for_one_shapefile(tmp_path: Path) -> None:
    refused(renamed(tmp_path, prj="Sites.DBF"), "two .dbf files for one shapefile")


def test_a_zip_that_says_itself_that_it_is_too_large(tmp_path: Path) -> None:
    path = zipped(tmp_path / "large.zip", {"sites.shp": bytes(3 * 2**20)})
    with pytest.raises(BadInput, match="the zip unpacks to more than 2 MiB"):
        nutrient_sites(path, limit=2 * 2**20)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (b"..", r"an entry with '\.\.' in its path"),
        (b".\\", "an absolute or strange path"),
        (b".\0", "an absolute or strange path"),
        (b"\xff\xff", "damaged or cut short: 'utf-8'"),
    ],
)
def test_names_in_a_zip_that_are_none(tmp_path: Path, name: bytes, message: str) -> None:
    path = zipped(tmp_path / "names.zip", {**members(tmp_path), "xx": b""})
    path.write_bytes(path.read_bytes().replace(b"xx", name))
    if name == b"\xff\xff":
        patched(path, b"PK\x01\x02", 9, b"\x08")  # it says that its names are UTF-8
    refused(path, message)


def test_names_in_a_zip_that_say_nothing(tmp_path: Path) -> None:
    good = members(tmp_path)
    assert len(nutrient_sites(zipped(tmp_path / "dots.zip", {"./": b"", ".": b"", **good}))) == 1


# shapefiles


def shp(*rings: list[tuple[float, float]]) -> bytes:
    """A .shp with one feature of these rings."""
    points = [point for ring in rings for point in ring]
    starts = np.cumsum([0, *(len(ring) for ring in rings)])[:-1]
    record = struct.pack("<i4d2i", 5, 0, 0, 0, 0, len(rings), len(points))
    record += starts.astype("<i4").tobytes() + np.array(points, "<f8").tobytes()
    head = shapefile.MAGIC + bytes(28) + struct.pack("<i", 5) + bytes(64)
    return head + struct.pack(">ii", 1, len(record) // 2) + record


def placed(folder: Path, **changed: bytes) -> Path:
    """A good shapefile side by side, with members of it replaced."""
    members(folder)
    for extension, content in changed.items():
        (folder / f"sites.{extension}").write_bytes(content)
    return folder / "sites.shp"


def anticlockwise(x: float, y: float, size: float) -> list[tuple[float, float]]:
    x, y = x + 600_000, y + 300_000
    return [(x, y), (x + size, y), (x + size, y + size), (x, y + size), (x, y)]


def test_rings_that_are_none(tmp_path: Path) -> None:
    square = anticlockwise(0, 0, 10)
    refused(placed(tmp_path, shp=shp(square[:3])), "feature 1: has a ring of fewer than four points")
    broken = [*square[:2], (math.nan, 3.0), *square[3:]]
    refused(placed(tmp_path, shp=shp(broken)), "feature 1: has coordinates that are not numbers")


def test_shells_drawn_the_wrong_way_round_are_shells(tmp_path: Path) -> None:
    path = placed(tmp_path, shp=shp(anticlockwise(0, 0, 10), anticlockwise(50, 0, 20)))
    assert nutrient_sites(path).area == pytest.approx([100 + 400])


def test_a_table_with_too_few_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "sites.shp", frame(TWO_SITES, id=["a", "b"]))
    dbf = path.with_suffix(".dbf").read_bytes()
    path.with_suffix(".dbf").write_bytes(dbf[:4] + struct.pack("<I", 1) + dbf[8:])
    refused(path, "feature 2: the .dbf has no row for it")


def test_a_deleted_row_is_no_site(tmp_path: Path) -> None:
    path = write(tmp_path / "sites.shp", frame(TWO_SITES, id=["a", "b"]))
    dbf = bytearray(path.with_suffix(".dbf").read_bytes())
    (head,) = struct.unpack_from("<H", dbf, 8)
    dbf[head] = ord("*")
    path.with_suffix(".dbf").write_bytes(dbf)
    assert nutrient_sites(path).id == ("b",)


def test_a_shapefile_comes_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapefile, "BATCH", 2)
    path = write(tmp_path / "sites.shp", frame([box(k, 0, k + 1, 1) for k in range(5)], id=list("abcde")))
    batches = list(open_source(path).batches(["id"]))
    assert [list(batch.columns["id"]) for batch in batches] == [["a", "b"], ["c", "d"], ["e"]]
    assert nutrient_sites(path).id == tuple("abcde")


def test_a_table_without_a_word_about_its_encoding_is_windows(tmp_path: Path) -> None:
    good = members(tmp_path)
    dbf = good["sites.dbf"].replace(b"Field", b"F\xe9e\x80 ")
    entries = {**good, "sites.dbf": dbf}
    del entries["sites.cpg"]
    assert nutrient_sites(zipped(tmp_path / "old.zip", entries)).name == ("Fée€",)


@pytest.mark.parametrize("encoding", [b"hex", b"rot13", b"undefined", b"\xff", b"cp99999"])
def test_an_encoding_that_gives_no_text(tmp_path: Path, encoding: bytes) -> None:
    refused(placed(tmp_path, cpg=encoding), "names an unknown encoding")


def test_logical_fields(tmp_path: Path) -> None:
    """A dBASE field of its own kind, which newer programs write for true and false."""
    for said, name in ((b"T", "True"), (b"n", "False"), (b"?", None)):
        field = struct.pack("<11sc4xBB14x", b"Name", b"L", 1, 0)
        head = struct.pack("<4xIHH20x", 1, 32 + len(field) + 1, 2)
        path = placed(tmp_path, dbf=head + field + b"\r" + b" " + said)
        assert gcn_sites(path).name == (name,)


def test_a_table_of_rows_without_any_bytes(tmp_path: Path) -> None:
    path = placed(tmp_path, dbf=struct.pack("<4xIHH20x", 1, 32, 0))
    with pytest.raises(BadInput, match="rows shorter than its fields"):
        gcn_sites(path)


# GeoPackages


def geopackage(folder: Path, *statements: str) -> Path:
    """A good GeoPackage after some SQL."""
    path = write(folder / "sites.gpkg", frame(), layer="sites", SPATIAL_INDEX="NO")
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (
            ["alter table sites rename to hidden", "create view sites as select * from hidden"],
            "layer 'sites' is not a table",
        ),
        (["delete from gpkg_contents"], "one feature layer is needed; it has none"),
        (["update gpkg_geometry_columns set column_name = 'id\"'"], "layer 'sites' has no column 'id\"'"),
        (
            [
                "alter table sites add column huge blob generated always as (zeroblob(900000000))",
                "update gpkg_geometry_columns set column_name = 'huge'",
            ],
            "layer 'sites' has no column 'huge'",
        ),
        (["update gpkg_geometry_columns set srs_id = -1"], "declares no coordinate system"),
        (
            ["update gpkg_spatial_ref_sys set organization = 7, definition = 8 where srs_id = 27700"],
            "the coordinate system '8' is not known",
        ),
        (["update sites set geom = 'POLYGON'"], "feature 1: the geometry is not a GeoPackage geometry"),
        (["update sites set geom = x'4750'"], "feature 1: the geometry is not a GeoPackage geometry"),
        (
            ["update sites set geom = x'4750002100000000'"],
            "feature 1: the type of the geometry is not supported",
        ),
        (
            ["update sites set geom = x'4750000f00000000'"],
            "feature 1: the type of the geometry is not supported",
        ),
        (
            ["insert into sites (geom, id) values (x'475000010000000001', 'b')"],
            "feature 2: the geometry cannot be read",
        ),
        (["update sites set Name = cast(x'c3' as text)"], "a text is not valid UTF-8"),
    ],
)
def test_a_hostile_geopackage(tmp_path: Path, statements: list[str], message: str) -> None:
    refused(geopackage(tmp_path, *statements), message)


def test_a_layer_of_several_has_to_be_named(tmp_path: Path) -> None:
    path = write(tmp_path / "sites.gpkg", frame(), layer="a")
    write(path, frame(), layer="b", append=True)
    refused(path, "one feature layer is needed; it has a, b")
    with pytest.raises(BadInput, match="one feature layer is needed, c; it has a, b"):
        open_source(path, "c")
    assert "id" in open_source(path, "b").fields


def test_a_name_that_looks_like_a_place_for_names_brings_no_sql(tmp_path: Path) -> None:
    """Read in two passes, the columns would be put into the table's name, and end its quotes."""
    evil = ", (with recursive r(n) as (select 1 union all select n from r) select n from r) --"
    path = geopackage(
        tmp_path,
        'alter table sites rename to "x<columns>"',
        f'alter table "x<columns>" rename column geom to "{evil}"',
        "create table x (a)",
        "update gpkg_contents set table_name = 'x<columns>'",
        f"update gpkg_geometry_columns set table_name = 'x<columns>', column_name = '{evil}'",
    )
    assert nutrient_sites(path).area == pytest.approx([10_000])


# GeoParquet


Metadata = dict[str, Any]
Change = Callable[[Metadata], object]


def geoparquet(folder: Path, change: Change, geometry: list[Any] | None = None) -> Path:
    """A good GeoParquet with other metadata, or another column of geometry."""
    path = write(folder / "sites.parquet", frame())
    table = pyarrow.parquet.read_table(path)
    content = change(json.loads(table.schema.metadata[b"geo"]))
    if geometry is not None:
        table = table.set_column(
            table.schema.get_field_index("geometry"), "geometry", pyarrow.array(geometry)
        )
    pyarrow.parquet.write_table(table.replace_schema_metadata({"geo": json.dumps(content)}), path)
    return path


def about(**words: Any) -> Change:
    """Other words about the geometry."""
    return lambda geo: {**geo, "columns": {"geometry": {**geo["columns"]["geometry"], **words}}}


def without_crs(geo: Metadata) -> Metadata:
    del geo["columns"]["geometry"]["crs"]
    return geo


def without_code(geo: Metadata) -> Metadata:
    del geo["columns"]["geometry"]["crs"]["id"]
    return geo


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: [], "is Parquet but not GeoParquet"),
        (lambda _: {"primary_column": "x", "columns": {}}, "is Parquet but not GeoParquet"),
        (lambda geo: {**geo, "columns": {"geometry": "WKB"}}, "is Parquet but not GeoParquet"),
        (
            lambda geo: {"primary_column": "shape", "columns": {"shape": geo["columns"]["geometry"]}},
            "there is not exactly one column 'shape'",
        ),
        (about(encoding="point"), "the geometry encoding 'point' is not supported; use WKB"),
        (about(crs=None), "declares no coordinate system"),
        (about(crs=["x"]), "the coordinate system .* is not known"),
        (about(crs={"id": 7}), "the coordinate system .* is not known"),
        (without_crs, "the CRS is geographic, but the coordinates are not"),
    ],
)
def test_hostile_metadata_of_parquet(tmp_path: Path, change: Change, message: str) -> None:
    refused(geoparquet(tmp_path, change), message)


def test_parquet_without_a_code_for_its_system(tmp_path: Path) -> None:
    assert nutrient_sites(geoparquet(tmp_path, without_code)).area == pytest.approx([10_000])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([b"no WKB"], "feature 1: the geometry cannot be read"),
        (["no WKB"], "feature 1: the geometry cannot be read"),
        ([7], "the column 'geometry' does not contain WKB"),
        ([[1.5, 2.5]], "the column 'geometry' does not contain WKB"),
        (pyarrow.array([b"0123"], pyarrow.binary(4)), "the column 'geometry' does not contain WKB"),
    ],
)
def test_parquet_with_geometry_that_is_none(tmp_path: Path, content: list[Any], message: str) -> None:
    refused(geoparquet(tmp_path, about(), content), message)


def test_parquet_that_is_no_geoparquet(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"id": [1]}), tmp_path / "plain.parquet")
    refused(tmp_path / "plain.parquet", "is Parquet but not GeoParquet: it has no geo metadata")


def test_a_damaged_page_of_parquet(tmp_path: Path) -> None:
    path = write(tmp_path / "sites.parquet", frame())
    raw = bytearray(path.read_bytes())
    raw[4:64] = bytes(b ^ 0xFF for b in raw[4:64])
    path.write_bytes(raw)
    refused(path, "the Parquet is damaged after feature 0")


# all of them


@pytest.mark.parametrize("suffix", ["zip", "gpkg", "parquet", "geojson"])
def test_any_bytes_changed(tmp_path: Path, suffix: str) -> None:
    """An answer, or one sentence about what is wrong; the seed is fixed, so that it is the same test every time."""
    chance = random.Random(7)
    good = write(tmp_path / f"good.{suffix}", frame([DONUT, TWO], id=["a", "b"])).read_bytes()
    path = tmp_path / "changed"
    for _ in range(150):
        raw = bytearray(good)
        for _ in range(chance.choice((1, 1, 2, 3))):
            end = chance.random() < 0.5
            raw[chance.randrange(len(raw) * 2 // 3 if end else 0, len(raw))] = chance.choice((0, 255, 65))
        path.write_bytes(raw)
        assert "\n" not in _refusal(path)


def _refusal(path: Path) -> str:
    """What is said of a file; nothing where it can be read."""
    try:
        nutrient_sites(path)
    except BadInput as error:
        return str(error)
    return ""


def test_coordinates_that_are_no_numbers(tmp_path: Path) -> None:
    odd = [
        shapely.polygons([(600_000, 300_000), (math.inf, 300_000), (600_010, 300_010), (600_000, 300_000)])
    ]
    for suffix in ("gpkg", "parquet"):
        refused(
            write(tmp_path / f"sites.{suffix}", frame(odd)),
            r"feature 1 \(S1\): has coordinates that are not numbers",
        )


def test_more_than_anybody_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "sites.gpkg", frame(TWO_SITES, id=["a", "b"]))
    monkeypatch.setattr(accept, "MOST_FEATURES", 2)
    assert len(nutrient_sites(path)) == 2
    monkeypatch.setattr(accept, "MOST_VERTICES", 9)
    refused(path, "more than 2 features or 9 vertices in one file")
