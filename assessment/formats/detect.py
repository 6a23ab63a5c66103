"""Detect file formats by their first bytes, never by name; unsupported formats are named, with a way out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from switchyard.errors import BadInput

Format = Literal["zip", "sqlite", "parquet", "shapefile", "json", "flatgeobuf", "kml", "gml", "gdb"]

SQLITE = b"SQLite format 3\0"
SHAPEFILE = b"\x00\x00\x27\x0a"
BOM = b"\xef\xbb\xbf"
READABLE = (
    "a zipped shapefile, GeoPackage, GeoJSON, GeoParquet, FlatGeobuf, KML, KMZ, GML, or a zipped File "
    "Geodatabase or MapInfo file"
)
CONVERT = "export it from QGIS as GeoPackage, or run: ogr2ogr sites.gpkg FILE"
ZIPPED = "zip it together with its other files"

_HEADS: Mapping[bytes, Format] = {
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    SQLITE: "sqlite",
    b"PAR1": "parquet",
    SHAPEFILE: "shapefile",
    b"fgb": "flatgeobuf",
}
_OTHERS: Mapping[bytes, tuple[str, str]] = {
    b"%PDF": ("a PDF", "draw the boundary in a GIS and export that"),
    b"AC10": (
        "an AutoCAD drawing (DWG)",
        "save it as DXF in the CAD program, import that into QGIS and " + CONVERT,
    ),
    b"\x1f\x8b": ("packed with gzip", "unpack it first, or pack it as zip"),
    b"7z\xbc\xaf": ("a 7z archive", "pack it as zip"),
    b"Rar!": ("a RAR archive", "pack it as zip"),
    b"!table": ("a MapInfo table", ZIPPED),
    b"!TABLE": ("a MapInfo table", ZIPPED),
    b"Version": ("a MapInfo interchange file", ZIPPED),
    b"VERSION": ("a MapInfo interchange file", ZIPPED),
    b"\xff\xfe": ("text in UTF-16", "GeoJSON, KML and GML have to be UTF-8"),
    b"\xfe\xff": ("text in UTF-16", "GeoJSON, KML and GML have to be UTF-8"),
    b"\xd0\xcf\x11\xe0": ("an old Office document", CONVERT),
}


def format_of(path: Path, limit: int | None = None) -> Format:
    """The format of a file, or a BadInput with the name of the unsupported format."""
    if path.is_dir():
        if any(path.glob("a*.gdbtable")):
            return "gdb"
        raise BadInput(f"{path.name} is a folder; {READABLE} is needed")
    head = _head(path, limit)
    found = next((kind for start, kind in _HEADS.items() if head.startswith(start)), None)
    return found or _text(path.name, head)


def _text(name: str, head: bytes) -> Format:
    for start, (what, way_out) in _OTHERS.items():
        if head.startswith(start):
            raise other(name, what, way_out)
    text = head.removeprefix(BOM).lstrip()
    if text[:1] in (b"{", b"["):
        return "json"
    if text[:1] == b"<":
        return _xml(name, text.lower())
    if text[:20].split()[:2] in ([b"0", b"SECTION"], [b"999"]):
        raise other(name, "a drawing in DXF", CONVERT)
    if b"," in head.split(b"\n")[0] and b"\0" not in head:
        raise other(name, "a table of text (CSV), which has no boundaries", CONVERT)
    raise BadInput(f"{name} is of an unknown format; {READABLE} is needed")


def _xml(name: str, text: bytes) -> Format:
    if b"<kml" in text or b"earth.google.com/kml" in text or b"opengis.net/kml" in text:
        return "kml"
    if b"<gpx" in text:
        raise other(name, "GPX, which has tracks and no areas", CONVERT)
    if b"opengis.net/gml" in text or b"featurecollection" in text:
        return "gml"
    raise BadInput(f"{name} is XML, but neither KML nor GML; {READABLE} is needed")


def other(name: str, what: str, way_out: str) -> BadInput:
    return BadInput(f"{name} is {what}; {way_out}")


def _head(path: Path, limit: int | None) -> bytes:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(2048)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from error
    if not head:
        raise BadInput(f"{path.name} is empty")
    if limit is not None and size > limit:
        raise BadInput(f"{path.name} has {size / 2**20:,.0f} MiB; at most {limit // 2**20} MiB are accepted")
    return head


def files_of(path: Path) -> list[Path]:
    """All files of an input: itself, the other parts of a shapefile, the write-ahead log of a GeoPackage."""
    if path.is_dir():
        return sorted(part for part in path.iterdir() if part.is_file())
    kind = format_of(path)
    if kind == "shapefile":
        return [path, *parts_of(path).values()]
    wal = path.with_name(f"{path.name}-wal")
    return [path, wal] if kind == "sqlite" and wal.is_file() else [path]


def parts_of(path: Path) -> Mapping[str, Path]:
    """The other parts of an unpacked shapefile, by extension: files with the same stem in the same folder."""
    found: dict[str, Path] = {}
    for extension in ("dbf", "prj", "cpg"):
        for part in (path.with_suffix(f".{extension}"), path.with_suffix(f".{extension.upper()}")):
            if part.is_file():
                found.setdefault(extension, part)
    return found
