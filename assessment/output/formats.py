"""The formats in which results are written."""

from collections.abc import Sequence

from switchyard.errors import BadInput

FORMATS = ("csv", "gpkg", "parquet", "geojson")


def formats_of(names: Sequence[str]) -> tuple[str, ...]:
    """The requested formats; `all` selects all of them."""
    wanted = FORMATS if "all" in names else tuple(dict.fromkeys(names))
    unknown = [name for name in wanted if name not in FORMATS]
    if unknown:
        raise BadInput(f"format {unknown[0]!r} is not known; there are {', '.join(FORMATS)} and all")
    return wanted
