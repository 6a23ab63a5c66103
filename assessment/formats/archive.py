"""Untrusted zipped shapefiles: names, sizes and contents are checked before anything is unpacked.

Nothing is ever written to disk under a name from the archive. Sizes in the directory are not trusted: reading
stops at the limit whatever they say.
"""

import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from switchyard.errors import BadInput

LIMIT = 512 * 2**20
RATIO = 200
RATIO_FROM = 16 * 2**20
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
WANTED = ("shp", "dbf", "prj", "cpg")


def members(path: Path, limit: int = LIMIT) -> Mapping[str, memoryview]:
    """The parts of the one shapefile in a zip, by extension."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive, _shapefile(_vetted(archive)), limit)
    except (zipfile.BadZipFile, EOFError, zlib.error, OSError, ValueError, OverflowError) as error:
        raise BadInput(f"the zip is damaged or cut short: {error}") from error
    except NotImplementedError as error:
        raise BadInput(f"the zip cannot be read: {error}") from error


def _vetted(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The relevant entries; one that tries to leave the archive invalidates it."""
    entries = []
    for entry in archive.infolist():
        name = entry.filename
        path = PurePosixPath(name)
        if "\\" in entry.orig_filename or "\0" in entry.orig_filename or ":" in name or path.is_absolute():
            raise BadInput(
                f"the zip has an entry with an absolute or strange path: {entry.orig_filename[:80]!r}"
            )
        if ".." in path.parts:
            raise BadInput(f"the zip has an entry with '..' in its path: {name[:80]!r}")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise BadInput(f"the zip has a symbolic link: {name[:80]!r}")
        if name.endswith("/") or path.parts[:1] == ("__MACOSX",) or path.name.startswith("._"):
            continue
        if entry.flag_bits & 0x1:
            raise BadInput("the zip is encrypted")
        if entry.compress_type not in METHODS:
            raise BadInput(f"the zip packs {name[:80]!r} with a method other than deflate")
        entries.append(entry)
    return entries


def _shapefile(entries: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    shapes = [entry for entry in entries if PurePosixPath(entry.filename).suffix.lower() == ".shp"]
    if len(shapes) != 1:
        found = "no" if not shapes else str(len(shapes))
        raise BadInput(f"the zip contains {found} shapefiles; exactly one is needed")
    path = PurePosixPath(shapes[0].filename)
    if len(path.parts) > 2:
        raise BadInput(f"the shapefile is more than one folder deep in the zip: {path}")
    parts: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        own = PurePosixPath(entry.filename)
        extension = own.suffix.lower().removeprefix(".")
        if own.parent == path.parent and own.stem.lower() == path.stem.lower() and extension in WANTED:
            if extension in parts:
                raise BadInput(f"the zip has two .{extension} files for one shapefile")
            parts[extension] = entry
    return parts


def _read(
    archive: zipfile.ZipFile, parts: Mapping[str, zipfile.ZipInfo], limit: int
) -> Mapping[str, memoryview]:
    contents: dict[str, memoryview] = {}
    left = limit
    for extension, entry in parts.items():
        if entry.file_size > left:
            raise BadInput(f"the zip unpacks to more than {limit // 2**20} MiB")
        allowed = min(left, max(RATIO_FROM, RATIO * entry.compress_size))
        with archive.open(entry) as file:
            content = file.read(allowed + 1)
        if len(content) > allowed:
            raise BadInput(
                f"the zip looks like a bomb: {entry.filename[:80]!r} unpacks out of all proportion"
            )
        left -= len(content)
        contents[extension] = memoryview(content)
    return contents
