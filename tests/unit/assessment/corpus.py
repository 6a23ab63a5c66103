"""Files of every format that is read, made by GDAL and pyarrow: each with the sites that it must give."""

import json
import sqlite3
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pyogrio
import shapely

from tests.unit.assessment.files import DONUT, TWO, frame
from tests.unit.assessment.world import box

GRID = "EPSG:27700"
EXACT = 1e-6
SHAPES: dict[str, list[Any]] = {
    "one": [box(0, 0, 100, 100)],
    "hole": [DONUT],
    "parts": [TWO, box(400, 0, 450, 20)],
    "heights": [shapely.force_3d(TWO, 12.5)],
    "fractions": [shapely.affinity.rotate(DONUT, 17.3, origin=(600_000, 300_000))],
    "many": [box(30 * k, 0, 30 * k + 20.25, 20.125) for k in range(40)],
}
SYSTEMS = ("EPSG:4326", "EPSG:4258", "EPSG:3857", "EPSG:25830", "EPSG:3035", "EPSG:4277")


@dataclass(frozen=True)
class Made:
    """A file, and the sites in it on the National Grid, to within `off` metres."""

    path: Path
    shapes: list[Any]
    off: float = EXACT
    name: str | None = "Field"
    layer: str | None = None


def packed(path: Path, folder: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in sorted(folder.rglob("*")):
            if member.is_file():
                archive.write(member, member.relative_to(folder))
    return path


def _ogr(driver: str, name: str, **options: Any) -> Callable[[Path, Any], Path]:
    def make(folder: Path, sites: Any) -> Path:
        pyogrio.write_dataframe(sites, folder / name, driver=driver, **options)
        return folder / name

    return make


def _zipped(driver: str, name: str, ending: str = "zip", **options: Any) -> Callable[[Path, Any], Path]:
    def make(folder: Path, sites: Any) -> Path:
        inner = folder / "inner"
        inner.mkdir(parents=True, exist_ok=True)
        pyogrio.write_dataframe(sites, inner / name, driver=driver, **options)
        return packed(folder / f"sites.{ending}", inner)

    return make


def _parquet(folder: Path, sites: Any) -> Path:
    sites.to_parquet(folder / "sites.parquet")
    return folder / "sites.parquet"


FORMATS: dict[str, Callable[[Path, Any], Path]] = {
    "shp": _ogr("ESRI Shapefile", "sites.shp"),
    "shp.zip": _zipped("ESRI Shapefile", "sites.shp"),
    "gpkg": _ogr("GPKG", "sites.gpkg"),
    "gpkg.zip": _zipped("GPKG", "sites.gpkg"),
    "geojson": _ogr("GeoJSON", "sites.geojson", COORDINATE_PRECISION=15),
    "geojson.zip": _zipped("GeoJSON", "sites.geojson", COORDINATE_PRECISION=15),
    "parquet": _parquet,
    "fgb": _ogr("FlatGeobuf", "sites.fgb", SPATIAL_INDEX="NO"),
    "fgb.zip": _zipped("FlatGeobuf", "sites.fgb", SPATIAL_INDEX="NO"),
    "gml": _ogr("GML", "sites.gml"),
    "gdb": _ogr("OpenFileGDB", "sites.gdb", promote_to_multi=True),
    "gdb.zip": _zipped("OpenFileGDB", "sites.gdb", promote_to_multi=True),
    "mif.zip": _zipped("MapInfo File", "sites.mif"),
}
COARSE = {"gdb": 1e-3, "gdb.zip": 1e-3}
"""Formats that store coordinates as whole numbers of a small unit."""


def everywhere(kind: str, folder: Path) -> Iterator[Made]:
    """One format, all shapes on the grid and one shape in all systems."""
    for name, shapes in SHAPES.items():
        place = folder / name
        place.mkdir()
        sites = frame(shapes, id=[f"S{k}" for k in range(len(shapes))])
        yield Made(FORMATS[kind](place, sites), shapes, COARSE.get(kind, EXACT))
    for system in SYSTEMS if kind != "mif.zip" else ():
        place = folder / system.replace(":", "")
        place.mkdir()
        sites = frame(SHAPES["hole"]).to_crs(system)
        off = 0.05 if kind in COARSE else EXACT
        yield Made(FORMATS[kind](place, sites), list(sites.to_crs(GRID).geometry), off)


def markup(folder: Path) -> Iterator[Made]:
    """KML and KMZ are always in longitude and latitude; MapInfo tables have a resolution."""
    sites = frame(SHAPES["parts"], id=["a", "b"]).to_crs("EPSG:4326")
    back = list(sites.to_crs(GRID).geometry)
    for name in ("sites.kml", "doc.kml"):
        inner = folder / name
        inner.mkdir()
        pyogrio.write_dataframe(sites, inner / name, driver="LIBKML")
        yield Made(inner / name, back, name=None)
    yield Made(packed(folder / "sites.kmz", folder / "doc.kml"), back, name=None)
    table = folder / "table"
    table.mkdir()
    pyogrio.write_dataframe(
        frame(SHAPES["parts"], id=["a", "b"]), table / "sites.tab", driver="MapInfo File",
        BOUNDS="590000,290000,610000,310000",
    )  # fmt: skip
    yield Made(packed(folder / "table.zip", table), SHAPES["parts"], off=1e-4)


def parquets(folder: Path) -> Iterator[Made]:
    """Other writers' choices: compressions, encodings, row groups, native geometry."""
    sites = frame(SHAPES["many"], id=[f"S{k}" for k in range(40)])
    for compression in ("none", "snappy", "gzip", "zstd", "brotli", "lz4"):
        sites.to_parquet(folder / f"{compression}.parquet", compression=compression)
        yield Made(folder / f"{compression}.parquet", SHAPES["many"])
    table = pyarrow.parquet.read_table(folder / "none.parquet")
    writers: dict[str, dict[str, Any]] = {
        "delta": {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY", "version": "2.6"},
        "length": {"use_dictionary": False, "column_encoding": "DELTA_LENGTH_BYTE_ARRAY"},
        "groups": {"row_group_size": 7},
        "pages": {"data_page_version": "2.0"},
    }
    for name, options in writers.items():
        encodings = {"id": options.pop("column_encoding")} if "column_encoding" in options else None
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet", column_encoding=encodings, **options)
        yield Made(folder / f"{name}.parquet", SHAPES["many"])
    for name, shapes in (("native", SHAPES["one"]), ("native-parts", [TWO])):
        frame(shapes).to_parquet(
            folder / f"{name}.parquet", geometry_encoding="geoarrow", schema_version="1.1.0"
        )
        yield Made(folder / f"{name}.parquet", shapes)


def jsons(folder: Path) -> Iterator[Made]:
    """The many ways to write GeoJSON."""
    sites = frame(SHAPES["hole"])
    path = folder / "base.geojson"
    pyogrio.write_dataframe(sites, path, driver="GeoJSON", COORDINATE_PRECISION=15)
    document = json.loads(path.read_text())
    degrees = json.loads(sites.to_crs("EPSG:4326").to_json(drop_id=True))
    back = list(sites.to_crs("EPSG:4326").to_crs(GRID).geometry)
    text = json.dumps(document)
    names = ("EPSG:27700", "urn:ogc:def:crs:EPSG::27700", "urn:ogc:def:crs:EPSG:6.9:27700")
    variants: dict[str, tuple[str, list[Any]]] = {
        "bom": ("\ufeff" + text, SHAPES["hole"]),
        "crlf": (json.dumps(document, indent=2).replace("\n", "\r\n"), SHAPES["hole"]),
        "feature": (json.dumps({**document["features"][0], "crs": document["crs"]}), SHAPES["hole"]),
        "epsg": (
            json.dumps({**document, "crs": {"type": "EPSG", "properties": {"code": 27700}}}),
            SHAPES["hole"],
        ),
        "rfc7946": (json.dumps({k: v for k, v in degrees.items() if k != "crs"}), back),
        "crs84": (
            json.dumps(
                {**degrees, "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}}
            ),
            back,
        ),
    }
    for k, name in enumerate(names):
        crs = {"type": "name", "properties": {"name": name}}
        variants[f"crs{k}"] = (json.dumps({**document, "crs": crs}), SHAPES["hole"])
    for name, (content, shapes) in variants.items():
        (folder / f"{name}.json").write_bytes(content.encode())
        yield Made(folder / f"{name}.json", shapes)


def encodings(folder: Path) -> Iterator[Made]:
    """Texts of shapefiles: with a .cpg, with a language id, with neither."""
    for encoding in ("UTF-8", "ISO-8859-1", "CP1252", "CP850", "CP437"):
        place = folder / encoding
        place.mkdir()
        pyogrio.write_dataframe(frame(Name="Café Möwe"), place / "sites.shp", encoding=encoding)
        yield Made(place / "sites.shp", SHAPES["one"], name="Café Möwe")
    bare = folder / "bare"
    bare.mkdir()
    pyogrio.write_dataframe(frame(Name="Café Möwe"), bare / "sites.shp", encoding="CP1252")
    (bare / "sites.cpg").unlink()
    table = bytearray((bare / "sites.dbf").read_bytes())
    table[29] = 0
    (bare / "sites.dbf").write_bytes(bytes(table))
    yield Made(bare / "sites.shp", SHAPES["one"], name="Café Möwe")


def layers(folder: Path) -> Iterator[Made]:
    """Several layers in one file, and edits that are still in the write-ahead log."""
    for driver, name in (("GPKG", "sites.gpkg"), ("OpenFileGDB", "sites.gdb"), ("LIBKML", "sites.kml")):
        shapes = SHAPES["parts"]
        first, second = (frame(shapes[k : k + 1], id=[f"S{k}"]).to_crs("EPSG:4326") for k in (0, 1))
        pyogrio.write_dataframe(first, folder / name, driver=driver, layer="drafts")
        pyogrio.write_dataframe(second, folder / name, driver=driver, layer="sites", append=driver != "GPKG")
        off = 0.05 if driver == "OpenFileGDB" else EXACT
        no_name = None if driver == "LIBKML" else "Field"
        yield Made(folder / name, list(second.to_crs(GRID).geometry), off, layer="sites", name=no_name)


CURVE = struct.pack("<BII", 1, 10, 1) + struct.pack(
    "<BII10d", 1, 8, 5, 6e5, 3e5, 600_100, 300_100, 600_200, 3e5, 600_100, 299_900, 6e5, 3e5
)
"""A circle of 100 m as CURVEPOLYGON (CIRCULARSTRING (…))."""


def curved(folder: Path, content: bytes) -> Path:
    """A GeoPackage whose one geometry is this WKB."""
    path = folder / "curves.gpkg"
    pyogrio.write_dataframe(frame(), path, driver="GPKG", SPATIAL_INDEX="NO", geometry_type="Unknown")
    with sqlite3.connect(path) as connection:
        for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            connection.execute(f'drop trigger "{name}"')
        connection.execute("update curves set geom = ?", (b"GP\0\1" + struct.pack("<i", 27700) + content,))
    connection.close()
    return path


def surface(shapes: list[Any]) -> bytes:
    """MULTISURFACE of plain polygons, as ArcGIS and PostGIS export it."""
    parts = b"".join(shapely.to_wkb(shape, byte_order=1) for shape in shapes)
    return struct.pack("<BII", 1, 12, len(shapes)) + parts


def same(found: Any, expected: Any, off: float) -> bool:
    """Vertex by vertex, whatever the order of rings, as far as `off` metres."""
    flat = shapely.normalize(shapely.force_2d(np.asarray([found, _many(expected, found)], dtype=object)))
    return bool(shapely.equals_exact(flat[0], flat[1], tolerance=off) or _close(flat[0], flat[1], off))


def _many(expected: Any, found: Any) -> Any:
    return (
        shapely.multipolygons([expected]) if found.geom_type != expected.geom_type == "Polygon" else expected
    )


def _close(a: Any, b: Any, off: float) -> bool:
    """Coordinates that differ by `off` may be ordered differently: as sets of points."""
    if abs(a.area - b.area) > off * (a.length + b.length):
        return False
    return bool(shapely.hausdorff_distance(shapely.boundary(a), shapely.boundary(b)) <= off)
