"""Checks of a shapefile that GDAL lacks: missing parts, broken tables, unknown encodings."""

import codecs
import re
from collections.abc import Mapping
from typing import NamedTuple

from switchyard.errors import BadInput

LATIN = "cp1252"
NEEDED = "zip all of its files: .shp, .shx, .dbf and .prj"


class Text(NamedTuple):
    """The encoding of the attributes, None for GDAL's own choice. `remark` describes an assumption."""

    encoding: str | None
    remark: str | None = None


FALLBACKS = tuple(
    Text(encoding, f"texts do not fit the declared encoding: they were read as {name}")
    for encoding, name in ((LATIN, "Windows-1252"), ("iso-8859-1", "ISO 8859-1"))
)
"""Encodings to try if a text cannot be decoded; the last one decodes every byte."""


def check(parts: Mapping[str, bytes]) -> Text:
    """Check the first bytes of the other parts, by extension. A BadInput names what is missing."""
    if "shx" not in parts:
        raise BadInput(f"the shapefile has no .shx; {NEEDED}")
    if "dbf" in parts:
        _table(parts["dbf"])
    return _text(parts)


def _table(dbf: bytes) -> None:
    if len(dbf) < 32:
        raise BadInput("the .dbf of the shapefile ends in its header")
    if int.from_bytes(dbf[10:12], "little") == 0:
        raise BadInput("the .dbf of the shapefile has rows of no bytes")


def _text(parts: Mapping[str, bytes]) -> Text:
    named = parts.get("cpg")
    if named is None:
        language = parts["dbf"][29] if "dbf" in parts else 0
        return Text(None if language else LATIN)
    name = named.decode("ascii", "replace").strip().strip("\0\ufeff")
    if _known(name):
        return Text(None)
    return Text(LATIN, f"the .cpg names an unknown encoding, {name[:40]!r}: texts were read as Windows-1252")


def _known(name: str) -> bool:
    page = re.fullmatch(r"(?i)(?:cp|ansi|oem|windows|ldid/)?[ _-]?(\d{2,5})", name)
    if page or re.fullmatch(r"(?i)iso[ _-]?8859[ _-]?\d{1,2}", name):
        return True
    try:
        return bool(codecs.lookup(name).name.startswith(("utf", "cp", "iso", "latin", "mac", "ascii")))
    except (LookupError, ValueError):
        return False
