"""Detects a file's format from its first bytes, never from its name, and opens it."""

import mmap
from collections.abc import Mapping
from pathlib import Path

from assessment.formats import archive, shapefile
from assessment.formats.geojson import GeoJson
from assessment.formats.geopackage import GeoPackage
from assessment.formats.geoparquet import GeoParquet
from assessment.formats.source import Source
from switchyard.errors import BadInput

SQLITE = b"SQLite format 3\0"
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
PARQUET = b"PAR1"
UTF16 = (b"\xff\xfe", b"\xfe\xff")


def open_source(path: Path, layer: str | None = None, limit: int | None = None) -> Source:
    """The features of a file; `limit` is the largest accepted size, packed or not."""
    head = _head(path, limit)
    if head.startswith(ZIP):
        return shapefile.Shapefile(archive.members(path, *([limit] if limit else [])))
    if head.startswith(SQLITE):
        return GeoPackage(path, layer)
    if head.startswith(PARQUET):
        return GeoParquet(path, limit)
    if head.startswith(shapefile.MAGIC):
        members = {"shp": path, **_beside(path)}
        return shapefile.Shapefile({extension: _mapped(file) for extension, file in members.items()})
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        return GeoJson(path.read_bytes())
    if head.startswith(UTF16):
        raise BadInput(f"{path.name} is text in UTF-16; GeoJSON has to be UTF-8")
    raise BadInput(f"{path.name} is neither a zipped shapefile, GeoPackage, GeoJSON nor GeoParquet")


def _head(path: Path, limit: int | None) -> bytes:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(1024)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from error
    if not head:
        raise BadInput(f"{path.name} is empty")
    if limit is not None and size > limit:
        raise BadInput(f"{path.name} has {size / 2**20:,.0f} MiB; at most {limit // 2**20} MiB are accepted")
    return head


def files_of(path: Path) -> list[Path]:
    """All files of an input: the file itself, and the other members of an unpacked shapefile."""
    is_shapefile = _head(path, None).startswith(shapefile.MAGIC)
    return [path, *_beside(path).values()] if is_shapefile else [path]


def _beside(path: Path) -> Mapping[str, Path]:
    """The other members of an unpacked shapefile, by extension: files of one name side by side."""
    found: dict[str, Path] = {}
    for extension in archive.WANTED[1:]:
        for member in (path.with_suffix(f".{extension}"), path.with_suffix(f".{extension.upper()}")):
            if member.is_file():
                found.setdefault(extension, member)
    return found


def _mapped(path: Path) -> memoryview:
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
