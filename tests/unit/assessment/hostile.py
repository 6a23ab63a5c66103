"""Files made to crash, hang or exhaust whoever reads them: how each is made, and words its message must have."""

import json
import os
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
import pyogrio
import shapely

from tests.unit.assessment import hostile_by_driver as by_driver
from tests.unit.assessment.corpus import packed
from tests.unit.assessment.files import frame, members, write, zipped

ENDLESS = "with recursive r(n) as (select 1 union all select n + 1 from r) select"


def nested(depth: int) -> bytes:
    """GeometryCollections in one another, a polygon in the innermost."""
    inner: bytes = shapely.to_wkb(shapely.box(6e5, 3e5, 600_010, 300_010), byte_order=1)
    return struct.pack("<BII", 1, 7, 1) * depth + inner


def star(vertices: int) -> Any:
    """One ring that crosses itself about vertices squared over four times."""
    angles = np.arange(vertices) * (np.pi * (vertices // 2) / (vertices / 2 + 0.5))
    return shapely.Polygon(np.column_stack((6e5 + 900 * np.cos(angles), 3e5 + 900 * np.sin(angles))))


def geopackage(folder: Path, *statements: str, **values: Any) -> Path:
    path = write(folder / "sites.gpkg", frame(), layer="sites", SPATIAL_INDEX="NO")
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement, values if ":" in statement else {})
        connection.commit()
    return path


def blob(folder: Path, content: bytes) -> Path:
    header = b"GP\0\1" + struct.pack("<i", 27700)
    path = geopackage(folder)
    with closing(sqlite3.connect(path)) as connection:
        for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            connection.execute(f'drop trigger "{name}"')
        connection.execute("update sites set geom = ?", (header + content,))
        connection.commit()
    return path


def view(folder: Path, table: str, columns: str) -> Path:
    """One of the tables that every GeoPackage has, as a view that a stranger wrote."""
    return geopackage(folder, f"alter table {table} rename to hidden", f"create view {table} as {columns}")


def parquet(folder: Path, **changed: Any) -> Path:
    path = write(folder / "sites.parquet", frame())
    table = pyarrow.parquet.read_table(path)
    for name, column in changed.items():
        table = table.set_column(table.schema.get_field_index(name), name, pyarrow.array(column))
    pyarrow.parquet.write_table(table, path)
    return path


def spread(folder: Path, rows: int, name: str, value: Any) -> Path:
    """One site this many times; the file has each value once."""
    path = write(folder / "sites.parquet", frame())
    good = pyarrow.parquet.read_table(path)
    index = pyarrow.array(np.zeros(rows, np.int32))
    columns = {
        column: pyarrow.DictionaryArray.from_arrays(
            index, pyarrow.array([value]) if column == name else good[column].chunk(0)
        )
        for column in good.column_names
    }
    table = pyarrow.table(columns)
    with pyarrow.parquet.ParquetWriter(path, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"geo": good.schema.metadata[b"geo"].decode()})
    return path


def columns(folder: Path, count: int) -> Path:
    path = write(folder / "sites.parquet", frame())
    table = pyarrow.parquet.read_table(path)
    wide = {**{name: table[name] for name in table.column_names}, **{f"c{k}": [0] for k in range(count)}}
    made = pyarrow.table(wide).replace_schema_metadata(table.schema.metadata)
    pyarrow.parquet.write_table(made, path)
    return path


def text(folder: Path, name: str, content: str | bytes) -> Path:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / name


def shared_overflow(folder: Path, rows: int, pages: int) -> Path:
    """Rows whose text is one and the same chain of pages: as large as the file, times the rows."""
    path = geopackage(folder)
    with closing(sqlite3.connect(path)) as connection:
        for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            connection.execute(f'drop trigger "{name}"')
        connection.execute("update sites set fid = 128, Name = ?", ("x" * (4092 * pages + 400),))
        connection.commit()
        connection.execute("vacuum")  # nothing else is on its page
        (root,) = connection.execute("select rootpage from sqlite_master where name = 'sites'").fetchone()
    return repeated_cell(path, root, rows)


def repeated_cell(path: Path, root: int, rows: int, size: int = 4096) -> Path:
    """The one cell of a table of SQLite again and again, under rising keys of two bytes from 128 on."""
    content = bytearray(path.read_bytes())
    at = (root - 1) * size
    start = int.from_bytes(content[at + 8 : at + 10], "big")
    cell = bytes(content[at + start : at + size])
    key = next(k for k in range(9) if cell[k] < 128) + 1  # behind the varint of the length
    assert cell[key : key + 2] == b"\x81\x00"
    pages, links = [], []
    each = (size - 8) // (len(cell) + 2)
    for first in range(128, 128 + rows, each):
        keys = range(first, min(first + each, 128 + rows))
        cells = [cell[:key] + bytes([k >> 7 | 128, k & 127]) + cell[key + 2 :] for k in keys]
        pages.append(tree_page(13, cells, size))
        links.append((len(content) // size + len(pages), keys[-1]))
    (last, _), branches = links[-1], links[:-1]
    pointers = [struct.pack(">I", page) + bytes([k >> 7 | 128, k & 127]) for page, k in branches]
    content[at : at + size] = tree_page(5, pointers, size, struct.pack(">I", last))
    struct.pack_into(">I", content, 28, len(content) // size + len(pages))
    path.write_bytes(bytes(content) + b"".join(pages))
    return path


def tree_page(kind: int, cells: list[bytes], size: int, right: bytes = b"") -> bytes:
    """A page of a table: 5 with the numbers of pages, 13 with rows."""
    ends = np.cumsum([len(cell) for cell in cells])
    places = b"".join(struct.pack(">H", size - end) for end in ends.tolist())
    head = struct.pack(">BHHHB", kind, 0, len(cells), size - int(ends[-1]), 0) + right + places
    body = b"".join(reversed(cells))
    return head + bytes(size - len(head) - len(body)) + body


def many_entries(folder: Path, count: int) -> Path:
    with zipfile.ZipFile(folder / "many.zip", "w") as archive:
        for k in range(count):
            archive.writestr(f"{k}.txt", b"")
    return folder / "many.zip"


def long_directory(folder: Path, count: int, said: int) -> Path:
    """A zip whose end says `said` entries."""
    content = many_entries(folder, 1).read_bytes()
    at, end = content.rfind(b"PK\1\2"), content.rfind(b"PK\5\6")
    tail = bytearray(content[end:])
    struct.pack_into("<HHI", tail, 8, said, said, (end - at) * count)
    return text(folder, "many.zip", content[:at] + content[at:end] * count + bytes(tail))


def repeated(folder: Path, feature: str, count: int) -> Path:
    return text(
        folder, "sites.json", '{"type":"FeatureCollection","features":[' + ",".join([feature] * count) + "]}"
    )


def cut(folder: Path, driver: str, name: str, share: float) -> Path:
    pyogrio.write_dataframe(frame(), folder / name, driver=driver)
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: int(len(content) * share)])
    return folder / name


def table_with(folder: Path, suffix: str, change: Callable[[bytes], bytes]) -> Path:
    good = members(folder)
    return zipped(folder / "sites.zip", {**good, f"sites.{suffix}": change(good[f"sites.{suffix}"])})


def without(folder: Path, suffix: str) -> Path:
    return zipped(folder / "sites.zip", {k: v for k, v in members(folder).items() if not k.endswith(suffix)})


def geodatabase(folder: Path) -> Path:
    """The tables of a File Geodatabase with every header changed."""
    (folder / "in").mkdir()
    pyogrio.write_dataframe(frame(), folder / "in" / "sites.gdb", driver="OpenFileGDB")
    for part in (folder / "in" / "sites.gdb").glob("*.gdbtable"):
        content = bytearray(part.read_bytes())
        content[4:40] = b"\xff" * 36
        part.write_bytes(bytes(content))
    return packed(folder / "gdb.zip", folder / "in")


def fifo(folder: Path) -> Path:
    """A GeoJSON whose coordinate system names a pipe that nobody writes to."""
    os.mkfifo(folder / "pipe")
    crs = {"type": "name", "properties": {"name": f"+proj=longlat +nadgrids={folder}/pipe +type=crs"}}
    ring = [[[1.0, 52.0], [1.1, 52.0], [1.1, 52.1], [1.0, 52.0]]]
    properties = {"id": "a", "Name": None, "Dwel_Cat": "x", "Source": "y", "Dwellings": -1}
    feature = {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": "Polygon", "coordinates": ring},
    }
    return text(
        folder, "s.json", json.dumps({"type": "FeatureCollection", "crs": crs, "features": [feature]})
    )


def with_system(folder: Path, crs: object) -> Path:
    """A GeoJSON of one good site with that `crs` member."""
    ring = [[[6e5, 3e5], [6e5 + 9, 3e5], [6e5 + 9, 3e5 + 9], [6e5, 3e5]]]
    properties = {"id": "a", "Name": None, "Dwel_Cat": "x", "Source": "y", "Dwellings": 1}
    site = {"type": "Feature", "properties": properties, "geometry": {"type": "Polygon", "coordinates": ring}}
    return text(folder, "s.json", json.dumps({"type": "FeatureCollection", "crs": crs, "features": [site]}))


def system_text(folder: Path, definition: str) -> Path:
    """A zipped shapefile with that text in its .prj."""
    return zipped(folder / "sites.zip", {**members(folder), "sites.prj": definition.encode()})


def described(folder: Path, about: bytes) -> Path:
    """GeoParquet with that for its metadata."""
    path = write(folder / "sites.parquet", frame())
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table.replace_schema_metadata({b"geo": about}), path)
    return path


def changed(folder: Path, driver: str, name: str, at: int, content: bytes) -> Path:
    """A good file with other bytes at one place."""
    pyogrio.write_dataframe(frame(), folder / name, driver=driver)
    good = (folder / name).read_bytes()
    return text(folder, name, good[:at] + content + good[at + len(content) :])


def gml(content: str, system: str = "") -> str:
    """A site whose boundary is that; the attribute of its coordinate system."""
    return (
        '<?xml version="1.0"?><gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xsi:schemaLocation="a file:///etc/passwd b http://127.0.0.1:9/x"><gml:featureMember><s><id>a</id>'
        f"<gml:polygonProperty><gml:Polygon{system}><gml:outerBoundaryIs><gml:LinearRing><gml:coordinates>{content}"
        "</gml:coordinates></gml:LinearRing></gml:outerBoundaryIs></gml:Polygon></gml:polygonProperty></s>"
        "</gml:featureMember></gml:FeatureCollection>"
    )


WKT = 'GEOGCS["a",DATUM["b",SPHEROID["c",6378137,298]],PRIMEM["d",0],UNIT["e",0.017]]'
KML = '<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2">{}</kml>'
GML = (
    '<?xml version="1.0"?>{}<gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml" '
    'xmlns:xlink="http://www.w3.org/1999/xlink"><gml:featureMember><a><gml:polygonProperty '
    'xlink:href="http://127.0.0.1:9/x"/>{}</a></gml:featureMember></gml:FeatureCollection>'
)
LAUGHS = (
    "<!DOCTYPE x ["
    + "".join(f'<!ENTITY l{k} "' + (f"&l{k - 1};" * 10 if k else "ha") + '">' for k in range(12))
    + "]>"
)

READING = "takes too long|more than \\d+ MiB of memory|ended the process|cannot be read|has no geometry"

FILES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "collections nested 20,000 deep in a GeoPackage": (lambda f: blob(f, nested(20_000)), READING),
    "collections nested 200,000 deep in a GeoPackage": (lambda f: blob(f, nested(200_000)), READING),
    "collections nested 100,000 deep in GeoParquet": (lambda f: parquet(f, geometry=[nested(100_000)]), READING),
    "an endless view for the geometry columns": (
        lambda f: view(f, "gpkg_geometry_columns", f"{ENDLESS} 'sites' as table_name, 'geom' as column_name, 'POLYGON' "
                       "as geometry_type_name, 27700 as srs_id, 0 as z, 0 as m from r where n < 0"), READING,
    ),
    "half a gigabyte of text in a view": (
        lambda f: view(f, "gpkg_spatial_ref_sys", "select 'x' as srs_name, 27700 as srs_id, 'EPSG' as organization, 27700 "
                       "as organization_coordsys_id, hex(zeroblob(450000000)) as definition, 'x' as description"), ".",
    ),
    "a layer that is an endless view": (
        lambda f: geopackage(f, "alter table sites rename to hidden",
                             f"create view sites as {ENDLESS} hidden.* from r, hidden where n < 0"), ".",
    ),
    "a ring of 4,001 vertices that crosses itself everywhere": (
        lambda f: write(f / "s.gpkg", frame([star(4001)])), READING,
    ),
    "a ring of 20,001 vertices that crosses itself everywhere": (
        lambda f: write(f / "s.gpkg", frame([star(20_001)])), "too large to repair|takes too long",
    ),
    "20,000 columns": (lambda f: columns(f, 20_000), "20,006 columns; at most 2,000 are accepted"),
    "one geometry of 4,000 vertices for 90,000 rows": (
        lambda f: spread(f, 90_000, "geometry", shapely.to_wkb(shapely.Point(4e5, 3e5).buffer(50, quad_segs=1000))), ".",
    ),
    "one text of a megabyte for 90,000 rows": (lambda f: spread(f, 90_000, "Name", "x" * 2**20), READING),
    "30 MB of brackets": (lambda f: text(f, "s.json", "[" * 15_000_000 + "]" * 15_000_000), "cannot be read|memory"),
    "a million empty lists": (lambda f: text(f, "s.json", "[" + "[]," * 1_000_000 + "[]]"), "cannot be read"),
    "400,000 empty features": (lambda f: repeated(f, '{"type":"Feature"}', 400_000), "."),
    "deep JSON in a property": (
        lambda f: repeated(f, '{"type":"Feature","properties":{"id":' + "[" * 50_000 + "]" * 50_000 + "}}", 1), ".",
    ),
    "300,000 entries in a zip": (lambda f: long_directory(f, 300_000, 65_535), "more than 1,000 entries"),
    "300,000 entries in a zip that says it has three": (
        lambda f: long_directory(f, 300_000, 3), "more than 1,000 entries",
    ),
    "3,000 rows of a GeoPackage that share one text of 16 MiB": (
        lambda f: shared_overflow(f, 3000, 4100), READING,
    ),
    "2,000 entries in a zip": (lambda f: many_entries(f, 2_000), "more than 1,000 entries"),
    "a zip in a zip": (
        lambda f: zipped(f / "outer.zip", {"inner.zip": many_entries(f, 3).read_bytes()}), "contains another zip",
    ),
    "a coordinate system that opens a pipe": (fifo, "."),
    "KML with an entity bomb": (
        lambda f: text(f, "s.kml", KML.format("<Document><name>&l11;</name></Document>").replace("?><", f"?>{LAUGHS}<")),
        ".",
    ),
    "KML with a link to the network": (
        lambda f: text(f, "s.kml", KML.format("<NetworkLink><Link><href>http://127.0.0.1:9/</href></Link></NetworkLink>")),
        ".",
    ),
    "KML of deep folders": (lambda f: text(f, "s.kml", KML.format("<Folder>" * 30_000 + "</Folder>" * 30_000)), "."),
    "GML with an entity bomb": (lambda f: text(f, "s.gml", GML.format(LAUGHS, "&l11;")), "."),
    "GML with links to the network": (lambda f: text(f, "s.gml", GML.format("", "")), "."),
    "GML of deep elements": (lambda f: text(f, "s.gml", GML.format("", "<b>" * 50_000 + "</b>" * 50_000)), "."),
    "FlatGeobuf cut short": (lambda f: cut(f, "FlatGeobuf", "s.fgb", 0.6), "."),
    "FlatGeobuf of noise": (lambda f: text(f, "s.fgb", b"fgb\x03fgb\x00" + b"\xff" * 4000), "."),
    "a File Geodatabase with wrong headers": (geodatabase, "."),
    "MapInfo of noise": (lambda f: zipped(f / "t.zip", {"s.tab": b"!table\n" + b"\xff" * 999, "s.map": b"\xff" * 9999}), "."),
    "MapInfo interchange that promises much": (
        lambda f: zipped(f / "t.zip", {"s.mif": b"Version 300\nColumns 1\n id Integer\nData\nRegion 999999999\n 999999999\n",
                                       "s.mid": b"1\n"}), ".",
    ),
    "GeoJSON with a system that is a link": (
        lambda f: with_system(f, {"type": "link", "properties": {"href": "http://127.0.0.1:9/x", "type": "proj4"}}), ".",
    ),
    "GeoJSON with a system that reads a device": (
        lambda f: with_system(f, {"type": "name", "properties": {"name": "+proj=longlat +nadgrids=/dev/zero"}}), ".",
    ),
    "GeoJSON with a system of brackets": (
        lambda f: with_system(f, {"type": "name", "properties": {"name": "GEOGCS[" * 100_000}}), ".",
    ),
    "GeoJSON with coordinates nested 100,000 deep": (
        lambda f: repeated(f, '{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":'
                           + "[" * 100_000 + "]" * 100_000 + "}}", 1), ".",
    ),
    "GeoJSON with numbers beyond all bounds": (
        lambda f: repeated(f, '{"type":"Feature","properties":{"id":1' + "0" * 1_000_000 + '},"geometry":{"type":"Polygon",'
                           '"coordinates":[[[1e999999,1],[2,1e999999],[3,3],[1e999999,1]]]}}', 1), ".",
    ),
    "a .prj of brackets": (lambda f: system_text(f, "GEOGCS[" * 1_000_000), "."),
    "a .prj that reads a device": (
        lambda f: system_text(f, WKT.replace(']]', '],EXTENSION["PROJ4","+proj=longlat +nadgrids=/dev/zero"]]', 1)),
        ".",
    ),
    "a GeoPackage that attaches another file": (
        lambda f: geopackage(f, "update gpkg_contents set table_name = 'sites\"; attach ''/etc/passwd'' as x; --'"), ".",
    ),
    "GeoParquet with metadata of brackets": (
        lambda f: described(f, b'{"primary_column":"geometry","columns":' + b"[" * 200_000 + b"]" * 200_000 + b"}"), ".",
    ),
    "GeoParquet with a system nested 50,000 deep": (
        lambda f: described(f, b'{"version":"1.0.0","primary_column":"geometry","columns":{"geometry":{"encoding":"WKB",'
                            b'"geometry_types":[],"crs":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}}}"), ".",
    ),
    "FlatGeobuf with a header of 4 GB": (lambda f: changed(f, "FlatGeobuf", "s.fgb", 8, b"\xff\xff\xff\xff"), "no layer"),
    "FlatGeobuf with a table that points outside": (
        lambda f: changed(f, "FlatGeobuf", "s.fgb", 12, b"\xff\xff\xff\x7f" * 4), ".",
    ),
    "KML of geometries in geometries": (
        lambda f: text(f, "s.kml", KML.format("<Placemark>" + "<MultiGeometry>" * 50_000 + "</MultiGeometry>" * 50_000
                                              + "</Placemark>")), ".",
    ),
    "KML of ten million coordinates": (
        lambda f: text(f, "s.kml", KML.format("<Placemark><Polygon><outerBoundaryIs><LinearRing><coordinates>"
                       + "1,52 " * 10_000_000 + "</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark>")), ".",
    ),
    "a KMZ with a thousand documents": (
        lambda f: zipped(f / "s.kmz", {f"{k}.kml": KML.format("").encode() for k in range(1000)}), "vector files",
    ),
    "GML with a schema elsewhere": (lambda f: text(f, "s.gml", gml("0,0 1,0 1,1 0,0")), "."),
    "GML with a system that reads a device": (
        lambda f: text(f, "s.gml", gml("0,0 1,0 1,1 0,0", ' srsName="+proj=longlat +nadgrids=/dev/zero"')), ".",
    ),
    "GML of ten million coordinates": (lambda f: text(f, "s.gml", gml("1,5 " * 10_000_000)), "."),
    "MapInfo interchange of two billion columns": (
        lambda f: zipped(f / "t.zip", {"s.mif": b"Version 300\nColumns 2000000000\n id Integer\nData\n", "s.mid": b""}), ".",
    ),
    "a shapefile without an index": (lambda f: without(f, "shx"), "has no .shx; zip all of its files"),
    "a table that ends in its header": (lambda f: table_with(f, "dbf", lambda b: b[:20]), "ends in its header"),
    "a table of rows without bytes": (
        lambda f: table_with(f, "dbf", lambda b: b[:10] + b"\0\0" + b[12:]), "rows of no bytes",
    ),
    "a table with too few rows": (lambda f: table_with(f, "dbf", lambda b: b[:4] + b"\0" * 4 + b[8:]), "."),
    "a shapefile that promises a billion points": (
        lambda f: table_with(f, "shp", lambda b: b[:148] + b"\xff\xff\xff\x7f" + b[152:]), ".",
    ),
    "edits beside a zipped GeoPackage": (
        lambda f: zipped(f / "w.zip", {"s.gpkg": geopackage(f).read_bytes(), "s.gpkg-wal": b"x"}), "close it in the GIS",
    ),
}  # fmt: skip

FILES |= {**by_driver.ARCHIVES, **by_driver.MARKUP, **by_driver.TABLES}
for _name, (_statements, _words) in by_driver.STATEMENTS.items():
    FILES[_name] = (lambda f, s=_statements: geopackage(f, *s)), _words  # type: ignore[misc]
for _name, (_shape, _words) in by_driver.SHAPES.items():
    FILES[f"{_name} in a GeoPackage"] = (lambda f, s=_shape: blob(f, s())), _words  # type: ignore[misc]

ENDED_BY_TIME = (
    *by_driver.ENDED_BY_TIME,
    "an endless view for the geometry columns",
    "a layer that is an endless view",
    "a coordinate system that opens a pipe",
)
"""Only a limit of time ends the reading of these."""

NAMED: dict[str, tuple[str, bytes, str]] = {
    "PDF": ("s.pdf", b"%PDF-1.7 ...", "is a PDF"),
    "DWG": ("s.dwg", b"AC1032" + bytes(100), r"AutoCAD drawing \(DWG\)"),
    "DXF": ("s.dxf", b"  0\r\nSECTION\r\n  2\r\nHEADER\r\n", "a drawing in DXF; export it"),
    "CSV": ("s.csv", b"id,Name,Dwellings\n1,a,2\n", r"table of text \(CSV\)"),
    "GPX": ("s.gpx", b'<?xml version="1.0"?><gpx version="1.1"></gpx>', "GPX, which has tracks"),
    "gzip": ("s.gz", b"\x1f\x8b\x08\x00", "packed with gzip; unpack it first"),
    "7z": ("s.7z", b"7z\xbc\xaf\x27\x1c", "a 7z archive; pack it as zip"),
    "RAR": ("s.rar", b"Rar!\x1a\x07", "a RAR archive; pack it as zip"),
    "MapInfo alone": ("s.tab", b"!table\n!version 300\n", "a MapInfo table; zip it together"),
    "TopoJSON": ("s.json", b'{"type": "Topology", "arcs": []}', "is TopoJSON; export it"),
    "Esri JSON": ("s.json", b'{"geometryType": "esriGeometryPolygon", "features": []}', "is Esri JSON"),
    "lines of GeoJSON": (
        "s.json",
        b'{"type":"Feature","geometry":null}\n{"type":"Feature"}\n',
        "newline-delimited",
    ),
    "other XML": ("s.xml", b"<?xml version='1.0'?><html></html>", "XML, but neither KML nor GML"),
    "nothing": ("s", b"", "is empty"),
}
