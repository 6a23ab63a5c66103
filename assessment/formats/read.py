"""Read an untrusted file as arrays. Runs in the child process, which has limits on memory, time and files."""

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import shapely

from assessment.arrays import Geometries
from assessment.formats import archive, gdal, shapefile
from assessment.formats.detect import BOM, CONVERT, Format, format_of, other, parts_of
from switchyard.errors import BadInput

BATCH = 50_000
LARGE = 2 * 2**20
"""File size in bytes from which pyarrow is used; for smaller files its import costs more than it saves."""
JSON_LIMIT = 128 * 2**20
"""The largest GeoJSON in bytes: in memory it takes several times as much."""
_CONSTANT = re.compile(rb"\b(?:NaN|Infinity)\b")
_NULL_CRS = re.compile(rb'"crs"\s*:\s*null')
_BROKEN = (shapely.errors.ShapelyError, TypeError, NotImplementedError)
_INNER: Mapping[str, Format] = {
    ".shp": "shapefile", ".gpkg": "sqlite", ".geojson": "json", ".json": "json", ".fgb": "flatgeobuf",
    ".kml": "kml", ".gml": "gml", ".gdb": "gdb",
}  # fmt: skip


@dataclass(frozen=True)
class Features:
    """Features as read; a geometry is None if it is missing or unreadable."""

    crs: str | None
    assumed_crs: bool
    """The file declares no system; its format implies longitude and latitude."""
    geometry: Geometries
    columns: Mapping[str, Any]
    remarks: tuple[str, ...] = ()

    def listed(self, column: str) -> list[Any]:
        """A column as Python values; among numbers, GDAL's nulls are NaN and become None."""
        values = self.columns[column]
        if not isinstance(values, np.ndarray):
            return list(values)
        if values.dtype.kind in "iub":
            whole: list[Any] = values.tolist()
            return whole
        return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124 - NaN


def features(path: Path, layer: str | None, most: int, limit: int) -> Features:
    """All features of a file or of one of its layers, at most `most`."""
    kind = format_of(path, limit)
    if kind == "parquet":
        return _parquet(path, most, limit)
    place = _place(path, kind, limit)
    large = path.is_file() and path.stat().st_size >= LARGE
    read, remark = _decoded(place, layer, most + 1, large=large)
    _count(len(read.shapes), most)
    remarks = (remark,) if remark else ()
    return Features(read.crs, place.assumed_crs, _parsed(read.shapes), read.columns, remarks)


def _decoded(place: "Place", layer: str | None, most: int, *, large: bool) -> tuple[gdal.Read, str | None]:
    """Read with the declared encoding, or else with a fallback, and return a remark about that."""
    for text in (place.text, *shapefile.FALLBACKS):
        with contextlib.suppress(UnicodeDecodeError):
            words = (place.name, place.kind, layer, most, text.encoding)
            return gdal.read(*words, ids=place.ids, large=large), text.remark
    raise BadInput("the file cannot be read: the names of its attributes or layers are not valid text")


class Place(NamedTuple):
    """What GDAL should open, the format, and how to interpret the content."""

    name: str
    kind: Format
    text: shapefile.Text = shapefile.Text(None)
    assumed_crs: bool = False
    ids: bool = False


def _place(path: Path, kind: Format, limit: int) -> Place:
    text = shapefile.Text(None)
    if kind == "json":
        return _json(path)
    if kind == "shapefile":
        found = {extension: part.read_bytes()[:4096] for extension, part in parts_of(path).items()}
        index = [path.with_suffix(suffix) for suffix in (".shx", ".SHX")]
        found |= {"shx": b""} if any(part.is_file() for part in index) else {}
        return Place(str(path), kind, shapefile.check(found))
    if kind != "zip":
        return Place(str(path), kind)
    name = archive.inside(path, limit)
    kind = _INNER.get(PurePosixPath(name).suffix.lower(), "zip")
    if kind == "shapefile":
        text = shapefile.check(archive.entries_beside(path, name))
    return Place(f"/vsizip/{{{path}}}/{name}", kind, text, assumed_crs=kind == "json")


def _json(path: Path) -> Place:
    """Refuse GeoJSON that GDAL would misread."""
    content = path.read_bytes()
    if len(content) > JSON_LIMIT:
        raise BadInput(
            f"the GeoJSON has {len(content) / 2**20:,.0f} MiB; at most {JSON_LIMIT // 2**20} MiB are accepted"
        )
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"the GeoJSON is not UTF-8 text: see byte {error.start:,}") from None
    if _CONSTANT.search(content):
        _document(content)
    if _NULL_CRS.search(content) and _document(content).get("crs", 0) is None:
        raise BadInput(
            'the GeoJSON says "crs": null, so its coordinate system is unknown; EPSG:27700 is needed'
        )
    start = content[:4096]
    if b'"Topology"' in start:
        raise other(path.name, "TopoJSON", CONVERT)
    if b'"esriGeometry' in start or (b'"rings"' in start and b'"coordinates"' not in start):
        raise other(path.name, "Esri JSON", CONVERT)
    if re.match(rb'\s*\{"type"\s*:\s*"Feature"[^\n]*\}\s*\n\s*\{', content):
        raise other(path.name, "newline-delimited GeoJSON", CONVERT)
    return Place(str(path), "json", assumed_crs=b'"crs"' not in content, ids=b'"id"' in content)


def _document(content: bytes) -> dict[str, Any]:
    """Parse a suspicious file; an empty object if it is not valid JSON, which GDAL will refuse."""
    try:
        found = json.loads(content.removeprefix(BOM), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _refuse(word: str) -> None:
    raise BadInput(f"the GeoJSON has {word} for a number, which is not valid JSON")


def _parquet(path: Path, most: int, limit: int) -> Features:
    from assessment.formats.geoparquet import DEFAULT_CRS, GeoParquet  # noqa: PLC0415

    file = GeoParquet(path, limit)
    _count(file.rows, most)
    geometry: list[Geometries] = []
    columns: dict[str, list[Any]] = {name: [] for name in file.fields}
    for shapes, batch in file.batches(file.fields, BATCH):
        geometry.append(_parsed(shapes))
        for name, values in batch.items():
            columns[name].extend(values)
    return Features(file.crs, file.crs == DEFAULT_CRS, np.concatenate(geometry), columns)


def _count(found: int, most: int) -> None:
    if not found:
        raise BadInput("the file has no features")
    if found > most:
        raise BadInput(f"more than {most:,} features in one file")


def _parsed(shapes: Any) -> Geometries:
    """Geometries from WKB, or already parsed; an error names the first invalid one."""
    if isinstance(next((shape for shape in shapes if shape is not None), None), shapely.Geometry):
        return np.asarray(shapes, dtype=object)
    try:
        return np.asarray(shapely.from_wkb(shapes), dtype=object)
    except _BROKEN as error:
        number = 1 + next(k for k, content in enumerate(shapes) if not _sound(content))
        raise BadInput(f"feature {number}: the geometry cannot be read: {error}") from error


def _sound(content: Any) -> bool:
    try:
        shapely.from_wkb(content)
    except _BROKEN:
        return False
    return True
