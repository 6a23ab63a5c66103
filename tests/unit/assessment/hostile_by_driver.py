"""More hostile files, driver by driver: archives that lie, XML that includes, SQL in tables, curves, empty shapes."""

import json
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pyogrio
import shapely

from tests.unit.assessment.files import frame, members, write, zipped

Make = Callable[[Path], Path]
NOTHING = "."
NO_ANSWER = "takes too long|more than \\d+ MiB of memory|ended the process"
DIRECTORY = b"PK\x01\x02"
KML = '<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>{}</Document></kml>'
OUTSIDE = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">'
    '<!ENTITY % p SYSTEM "http://127.0.0.1:9/x"> %p;]>'
)
GML = (
    '<gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml/3.2" '
    'xmlns:xi="http://www.w3.org/2001/XInclude" xmlns:xlink="http://www.w3.org/1999/xlink">'
    "<gml:featureMember><s><id>{}</id><g>{}</g></s></gml:featureMember></gml:FeatureCollection>"
)
INCLUDED = '<xi:include href="file:///etc/passwd" parse="text"/>'
CIRCLE = (
    '<gml:CircleByCenterPoint numArc="1"><gml:pos>600000 300000</gml:pos><gml:radius uom="m">9</gml:radius>'
    "</gml:CircleByCenterPoint>"
)
CURVE = (
    '<gml:Polygon srsName="EPSG:27700"><gml:exterior><gml:Ring><gml:curveMember><gml:Curve><gml:segments>{}'
    "</gml:segments></gml:Curve></gml:curveMember></gml:Ring></gml:exterior></gml:Polygon>"
)
TAB = '!table\n!version 300\n!charset WindowsLatin1\n\nDefinition Table\n  Type NATIVE Charset "WindowsLatin1"\n'
POINT = pyarrow.struct([("x", pyarrow.float64()), ("y", pyarrow.float64())])


def text(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content)
    return folder / name


def squeezed(folder: Path, mebibytes: int) -> Path:
    """A KMZ whose document is mostly blanks."""
    with zipfile.ZipFile(folder / "s.kmz", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("doc.kml", KML.format("<!--" + " " * (mebibytes * 2**20) + "-->"))
    return folder / "s.kmz"


def lying(path: Path, suffix: bytes, size: int) -> Path:
    """The directory of a zip says that an entry unpacks to `size`."""
    content, at = bytearray(path.read_bytes()), -1
    while (at := content.find(DIRECTORY, at + 1)) >= 0:
        length = struct.unpack_from("<H", content, at + 28)[0]
        if content[at + 46 : at + 46 + length].endswith(suffix):
            struct.pack_into("<I", content, at + 24, size)
    path.write_bytes(content)
    return path


def shared(path: Path, count: int) -> Path:
    """The directory of a zip names the same content `count` times."""
    content = path.read_bytes()
    at, end = content.rfind(DIRECTORY), content.rfind(b"PK\x05\x06")
    names = [f"{k:03d}.kml".encode() for k in range(count)]
    made = [content[at : at + 46] + name + content[at + 46 + len(name) : end] for name in names]
    tail = bytearray(content[end:])
    struct.pack_into("<HHII", tail, 8, count, count, sum(map(len, made)), at)
    path.write_bytes(content[:at] + b"".join(made) + tail)
    return path


def repeating(folder: Path, records: int) -> Path:
    """An index whose every record is the first shape, of 3,000 vertices, and a table as long."""
    angles = np.linspace(0, 2 * np.pi, 3000)
    ring = shapely.Polygon(np.column_stack((6e5 + 500 * np.cos(angles), 3e5 + 500 * np.sin(angles))))
    pyogrio.write_dataframe(frame([ring]), folder / "sites.shp")
    good = {part.name: part.read_bytes() for part in folder.glob("sites.*")}
    index, table = bytearray(good["sites.shx"]), bytearray(good["sites.dbf"])
    struct.pack_into(">i", index, 24, (100 + 8 * records) // 2)
    struct.pack_into("<I", table, 4, records)
    start, length = struct.unpack_from("<HH", table, 8)
    rows = bytes(table[:start]) + bytes(table[start : start + length]) * records
    shapes = bytes(index[:100]) + bytes(index[100:108]) * records
    return zipped(folder / "s.zip", {**good, "sites.shx": shapes, "sites.dbf": rows})


def linked(folder: Path) -> Path:
    """A shapefile whose table is a symbolic link."""
    with zipfile.ZipFile(folder / "s.zip", "w") as archive:
        for name, content in members(folder).items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o120777 if name.endswith("dbf") else 0o100644) << 16
            archive.writestr(entry, b"/etc/passwd" if name.endswith("dbf") else content)
    return folder / "s.zip"


def changed_parquet(folder: Path, change: Callable[[Any], Any], **options: Any) -> Path:
    path = write(folder / "sites.parquet", frame())
    pyarrow.parquet.write_table(change(pyarrow.parquet.read_table(path)), path, **options)
    return path


def native(folder: Path, encoding: Any, kind: Any, shape: Any) -> Path:
    """GeoParquet that says how its geometries are encoded, and has that instead."""

    def change(table: Any) -> Any:
        geo = json.loads(table.schema.metadata[b"geo"])
        geo["columns"]["geometry"]["encoding"] = encoding
        at = table.schema.get_field_index("geometry")
        made = table.set_column(at, "geometry", pyarrow.array([shape], kind))
        return made.replace_schema_metadata({b"geo": json.dumps(geo).encode()})

    return changed_parquet(folder, change)


def nested_list(table: Any) -> Any:
    kind: Any = pyarrow.string()
    value: Any = "x"
    for _ in range(500):
        kind, value = pyarrow.list_(kind), [value]
    return table.append_column("deep", pyarrow.array([value], kind))


def long_footer(folder: Path) -> Path:
    path = write(folder / "sites.parquet", frame())
    path.write_bytes(path.read_bytes()[:-8] + struct.pack("<I", 2**31 - 1) + b"PAR1")
    return path


def arcs(count: int) -> bytes:
    """WKB: a ring of arcs that lie on one another."""
    places = np.random.default_rng(1).uniform((6e5, 3e5), (600_100, 300_100), (2 * count + 1, 2))
    places[-1] = places[0]
    head = struct.pack("<BIIBII", 1, 10, 1, 1, 8, len(places))
    return head + places.astype("<f8").tobytes()


def within(kind: int, depth: int) -> bytes:
    """WKB: geometries of that kind, `depth` of them in one another."""
    return struct.pack("<BII", 1, kind, 1) * depth


def ring(*corners: tuple[float, float]) -> bytes:
    return struct.pack("<BIII", 1, 3, 1, len(corners)) + np.array(corners, "<f8").tobytes()


def holes(side: int) -> Any:
    """A square with `side` holes in each direction, every one over the next."""
    outer = shapely.box(6e5, 3e5, 604_000, 304_000).exterior.coords
    corners = [(6e5 + 1 + 0.9 * (k % side), 3e5 + 1 + 0.9 * (k // side)) for k in range(side * side)]
    return shapely.Polygon(outer, [shapely.box(x, y, x + 1.2, y + 1.2).exterior.coords for x, y in corners])


def feature(geometry: str, properties: str = '{"id":"a"}') -> str:
    return (
        '{"type":"FeatureCollection","features":[{"type":"Feature","properties":'
        + properties + ',"geometry":' + geometry + "}]}"
    )  # fmt: skip


ARCHIVES: Mapping[str, tuple[Make, str]] = {
    "a KMZ that unpacks to 100 MiB of blanks": (lambda f: squeezed(f, 100), "looks like a bomb"),
    "a KMZ that says it unpacks to 100 bytes": (lambda f: lying(squeezed(f, 30), b"kml", 100), NOTHING),
    "a table that says it unpacks to 1,000 bytes": (
        lambda f: lying(zipped(f / "s.zip", {**members(f), "sites.dbf": b" " * 2**26}), b"dbf", 1000), "zip is damaged",
    ),
    "a zip of 900 entries with one content": (lambda f: shared(squeezed(f, 30), 900), "looks like a bomb"),
    "a shapefile whose table is a link": (linked, "symbolic link"),
    "a zip whose entry leads to the network": (
        lambda f: zipped(f / "s.zip", {f"s}}/vsicurl/http://127.0.0.1:9/x{name[5:]}": content
                                       for name, content in members(f).items()}), NOTHING,
    ),
    "a zip whose entry has a name of 60,000 letters": (
        lambda f: zipped(f / "s.zip", {"a" * 60_000 + name[5:]: content for name, content in members(f).items()}), NOTHING,
    ),
    "a shapefile of one shape for 99,000 rows": (lambda f: repeating(f, 99_000), NO_ANSWER),
    "a .prj of 500,000 parameters": (
        lambda f: zipped(f / "s.zip", {**members(f), "sites.prj": b'PROJCS["a"' + b',PARAMETER["b",1]' * 500_000 + b"]"}),
        NOTHING,
    ),
}  # fmt: skip

MARKUP: Mapping[str, tuple[Make, str]] = {
    "GML that includes a file": (lambda f: text(f, "s.gml", '<?xml version="1.0"?>' + GML.format(INCLUDED, "")), NOTHING),
    "GML with an entity from a file": (lambda f: text(f, "s.gml", OUTSIDE + GML.format("&e;", "")), NOTHING),
    "KML with an entity from a file": (
        lambda f: text(f, "s.kml", OUTSIDE + KML.format("<name>&e;</name>").partition("?>")[2]), NOTHING,
    ),
    "GML with a schema that includes itself": (
        lambda f: zipped(f / "z.zip", {
            "s.gml": GML.format("a", "").encode(),
            "s.xsd": b"<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:include schemaLocation='s.xsd'/>"
                     b"<xs:import schemaLocation='http://127.0.0.1:9/'/></xs:schema>",
            "s.gfs": b"<GMLFeatureClassList><GMLFeatureClass><Name>s</Name><ElementPath>" + b"s|" * 100_000
                     + b"</ElementPath></GMLFeatureClass></GMLFeatureClassList>",
        }), NOTHING,
    ),
    "GML of 200,000 circles in one ring": (
        lambda f: text(f, "s.gml", '<?xml version="1.0"?>' + GML.format("a", CURVE.format(CIRCLE * 200_000))), NOTHING,
    ),
    "GML of 30,000 members that are the whole": (
        lambda f: text(f, "s.gml", '<?xml version="1.0"?>' + GML.format(
            "a", '<gml:MultiSurface gml:id="p">' + '<gml:surfaceMember xlink:href="#p"/>' * 30_000 + "</gml:MultiSurface>")),
        NOTHING,
    ),
    "KML of 20,000 folders side by side": (
        lambda f: text(f, "s.kml", KML.format("<Folder><name>a</name></Folder>" * 20_000)), NOTHING,
    ),
    "KML of 200,000 attributes": (
        lambda f: text(f, "s.kml", KML.format("<Placemark " + " ".join(f'a{k}="b"' for k in range(200_000)) + "/>")), NOTHING,
    ),
    "KML with a name of 50 MB": (
        lambda f: text(f, "s.kml", KML.format("<Placemark><name>" + "x" * 50_000_000 + "</name></Placemark>")), NOTHING,
    ),
    "GeoJSON of 200,000 attributes": (
        lambda f: text(f, "s.json", feature("null", "{" + ",".join(f'"k{k}":1' for k in range(200_000)) + "}")), NOTHING,
    ),
    "GeoJSON of three million empty polygons": (
        lambda f: text(f, "s.json", feature('{"type":"MultiPolygon","coordinates":[' + ",".join(["[[]]"] * 3_000_000) + "]}")),
        NOTHING,
    ),
    "GeoJSON of collections in collections": (
        lambda f: text(f, "s.json", feature('{"type":"GeometryCollection","geometries":[' * 20_000 + "]}" * 20_000)), NOTHING,
    ),
}  # fmt: skip

TABLES: Mapping[str, tuple[Make, str]] = {
    "GeoParquet with a list nested 500 deep": (lambda f: changed_parquet(f, nested_list), "not a valid Parquet file"),
    "GeoParquet with a page of 300 MiB": (
        lambda f: changed_parquet(f, lambda t: t.append_column("note", pyarrow.array(["x" * (300 * 2**20)])),
                                  compression="zstd", use_dictionary=False, write_statistics=False), NO_ANSWER,
    ),
    "GeoParquet with a footer of 2 GiB": (long_footer, "not a valid Parquet file"),
    "GeoParquet of lists that are not polygons": (
        lambda f: native(f, "polygon", pyarrow.list_(POINT), [{"x": 1.0, "y": 2.0}]), r"holds list<.*, not polygons",
    ),
    "GeoParquet of texts for polygons": (lambda f: native(f, "polygon", pyarrow.string(), "x"), "holds string, not polygons"),
    "GeoParquet with a ring of two points": (
        lambda f: native(f, "polygon", pyarrow.list_(pyarrow.list_(POINT)), [[{"x": 1.0, "y": 2.0}] * 2]), NOTHING,
    ),
    "GeoParquet with points of nothing": (
        lambda f: native(f, "polygon", pyarrow.list_(pyarrow.list_(POINT)), [[{"x": None, "y": 2.0}] * 4]), NOTHING,
    ),
    "GeoParquet with a list for its encoding": (
        lambda f: native(f, ["a"] * 1000, pyarrow.string(), "x"), r"^.{1,140}$",
    ),
    "MapInfo that is a raster": (
        lambda f: zipped(f / "t.zip", {"s.tab": TAB.replace("Type NATIVE", 'File "/etc/passwd"\n  Type "RASTER"').encode(),
                                       "s.dat": b"x"}), NOTHING,
    ),
    "MapInfo of two billion fields": (
        lambda f: zipped(f / "t.zip", {"s.tab": f"{TAB}  Fields 2000000000\n    id Integer ;\n".encode(),
                                       "s.dat": b"\3" + b"\xff" * 40, "s.map": bytes(2048), "s.id": b"\xff" * 64}), NOTHING,
    ),
    "MapInfo whose tables are itself": (
        lambda f: zipped(f / "t.zip", {
            "s.tab": f'{TAB}  Fields 1\n    Table Char (254) ;\nbegin_metadata\n"\\IsSeamless" = "TRUE"\nend_metadata\n'.encode(),
            "s.dat": b"\3\0\0\0" + struct.pack("<IHH", 1, 65, 255) + bytes(53) + b" s.tab".ljust(255),
            "s.map": bytes(2048), "s.id": bytes(8)}), NOTHING,
    ),
    "MapInfo interchange of two million empty parts": (
        lambda f: zipped(f / "t.zip", {"s.mif": b"Version 300\nColumns 1\n id Integer\nData\nRegion 2000000\n"
                                                + b"0\n" * 2_000_000, "s.mid": b"1\n"}), NOTHING,
    ),
    "a boundary of 22,500 holes over one another": (
        lambda f: write(f / "s.gpkg", frame([holes(150)])), "too large to repair|takes too long",
    ),
}  # fmt: skip

STATEMENTS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "a GeoPackage whose view loads a library": (
        ("alter table sites rename to hidden",
         "create view sites as select hidden.*, load_extension('/tmp/x.so') as x from hidden"), "cannot be read",
    ),
    "a GeoPackage whose view reads a file": (
        ("alter table sites rename to hidden",
         "create view sites as select fid, geom, readfile('/etc/passwd') as id from hidden"), "cannot be read",
    ),
    "a GeoPackage whose view opens a raster": (
        ("alter table sites rename to hidden",
         "create view sites as select fid, geom, gdal_get_pixel_value('/etc/passwd', 1, 'pixel', 0, 0) as id, Name, Dwel_Cat, "
         "Source, Dwellings from hidden"), NOTHING,
    ),
    "a GeoPackage whose layer is a text index": (
        ("create virtual table x using fts5(a)", "update gpkg_contents set table_name = 'x'"), NOTHING,
    ),
    "a GeoPackage whose schema was written over": (
        ("pragma writable_schema = on",
         "update sqlite_master set sql = 'create table sites(' || hex(zeroblob(200000)) || ')' where name = 'sites'"), NOTHING,
    ),
    "a GeoPackage with a column of 800 MB that is computed": (
        ("alter table sites add column x text generated always as (hex(zeroblob(400000000))) virtual",), NOTHING,
    ),
}  # fmt: skip

SHAPES: Mapping[str, tuple[Callable[[], bytes], str]] = {
    "compound curves nested 100,000 deep": (lambda: within(9, 100_000), NOTHING),
    "curve polygons nested 100,000 deep": (lambda: within(10, 100_000), NOTHING),
    "surfaces nested 100,000 deep": (lambda: within(12, 100_000), NOTHING),
    "a collection of two billion polygons": (lambda: struct.pack("<BII", 1, 6, 2**31 - 1), NOTHING),
    "a ring of 200,000 arcs": (lambda: arcs(200_000), NOTHING),
    "coordinates that are not numbers": (lambda: ring((np.nan, 1), (2, np.inf), (3, 3), (np.nan, 1)), NOTHING),
    "coordinates of 300 digits": (
        lambda: ring((1e308, 1e308), (-1e308, 1e308), (3, -1e308), (1e308, 1e308)), r"^.{1,160}$",
    ),
}  # fmt: skip

ENDED_BY_TIME = (
    "GML of 200,000 circles in one ring",
    "GML of 30,000 members that are the whole",
    "KML of 20,000 folders side by side",
    "KML of 200,000 attributes",
    "GeoJSON of 200,000 attributes",
    "a ring of 200,000 arcs in a GeoPackage",
)
"""Perhaps: what they cost grows with the square of their size."""
