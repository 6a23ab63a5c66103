"""Untrusted zips: names, methods and sizes are checked before GDAL reads in them; nothing is unpacked."""

import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from assessment.formats.detect import CONVERT, other
from switchyard.errors import BadInput

LIMIT = 512 * 2**20
RATIO = 200
RATIO_FROM = 16 * 2**20
MOST_ENTRIES = 1000
LONGEST_ENTRY = 1000
"""Bytes per directory entry, on average; the entry count in the trailer may be wrong."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENDINGS = (".shp", ".gpkg", ".geojson", ".json", ".fgb", ".kml", ".gml", ".tab", ".mif")
_END = b"PK\x05\x06"
_OTHERS = {"xl/workbook.xml": "an Excel workbook", "content.xml": "an OpenDocument file"}


def inside(path: Path, limit: int = LIMIT) -> str:
    """The name of the only vector file, or File Geodatabase, in a zip."""
    _count(path)
    with _opened(path) as archive:
        entries = _vetted(archive.infolist(), limit)
    names = [PurePosixPath(entry.filename) for entry in entries]
    found = [str(name) for name in names if name.suffix.lower() in ENDINGS] + _geodatabases(names)
    if not found:
        raise _nothing(path, names)
    if len(found) > 1:
        shown = ", ".join(sorted(found)[:5])
        raise BadInput(f"the zip contains {len(found)} vector files ({shown}); exactly one is needed")
    if len(PurePosixPath(found[0]).parts) > 2:
        raise BadInput(f"the vector file is more than one folder deep in the zip: {found[0]}")
    _edits(found[0], names)
    return found[0]


def entries_beside(path: Path, name: str) -> Mapping[str, bytes]:
    """The first bytes of the other parts of a zipped shapefile, by extension."""
    stem = PurePosixPath(name)
    found = {}
    with _opened(path) as archive:
        for entry in archive.infolist():
            own = PurePosixPath(entry.filename)
            if own.parent == stem.parent and own.stem.lower() == stem.stem.lower():
                with archive.open(entry) as file:
                    found[own.suffix.lower().removeprefix(".")] = file.read(4096)
    return found


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise BadInput(f"the zip is damaged or cut short: {error}") from error


def _count(path: Path) -> None:
    """Refuse a large directory before reading it: a zip may have a hundred thousand entries."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2**16 - 22))
        tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + 16:
        raise BadInput("the zip is damaged or cut short: it has no directory")
    entries, size = (int.from_bytes(tail[at + k : at + k + n], "little") for k, n in ((10, 2), (12, 4)))
    if entries > MOST_ENTRIES or size > MOST_ENTRIES * LONGEST_ENTRY:
        raise BadInput(f"the zip has more than {MOST_ENTRIES:,} entries")


def _vetted(entries: Sequence[zipfile.ZipInfo], limit: int) -> list[zipfile.ZipInfo]:
    """The relevant entries; an entry whose path leaves the archive makes the zip invalid."""
    for entry in entries:
        name = entry.filename
        if PurePosixPath(name).is_absolute() or "\0" in entry.orig_filename or name[1:3] in (":/", ":\\"):
            raise BadInput(f"the zip has an entry with an absolute or strange path: {name[:80]!r}")
        if ".." in PurePosixPath(name.replace("\\", "/")).parts:
            raise BadInput(f"the zip has an entry with '..' in its path: {name[:80]!r}")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise BadInput(f"the zip has a symbolic link: {name[:80]!r}")
    ours = [entry for entry in entries if _is_ours(entry)]
    for entry in ours:
        if entry.flag_bits & 0x1:
            raise BadInput("the zip is encrypted")
        if entry.compress_type not in METHODS:
            raise BadInput(f"the zip packs {entry.filename[:80]!r} with a method other than deflate")
        if entry.file_size > max(RATIO_FROM, RATIO * entry.compress_size):
            raise BadInput(
                f"the zip looks like a bomb: {entry.filename[:80]!r} unpacks out of all proportion"
            )
    if sum(entry.file_size for entry in ours) > limit:
        raise BadInput(f"the zip unpacks to more than {limit // 2**20} MiB")
    return ours


def _is_ours(entry: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(entry.filename)
    return not (
        entry.is_dir() or path.parts[:1] == ("__MACOSX",) or path.name.startswith("._") or not path.parts
    )


def _geodatabases(names: Sequence[PurePosixPath]) -> list[str]:
    tables = [name for name in names if name.suffix.lower() == ".gdbtable"]
    return sorted({str(name.parent) for name in tables if name.parent.suffix.lower() == ".gdb"})


def _nothing(path: Path, names: Sequence[PurePosixPath]) -> BadInput:
    for name in names:
        if str(name) in _OTHERS:
            return other(path.name, _OTHERS[str(name)], f"it has no boundaries: {CONVERT}")
    if any(name.suffix.lower() == ".zip" for name in names):
        return BadInput("the zip contains another zip; unpack the inner one and send that")
    if any(name.suffix.lower() == ".parquet" for name in names):
        return BadInput("the zip contains GeoParquet; send the file itself")
    return BadInput(
        "the zip contains no vector file; one of .shp, .gpkg, .geojson, .fgb, .kml, .gdb is needed"
    )


def _edits(name: str, names: Sequence[PurePosixPath]) -> None:
    if any(str(other_name) == f"{name}-wal" for other_name in names):
        raise BadInput(
            f"the zip has {name}-wal, edits that are not in {name} yet: close it in the GIS, then zip it"
        )
