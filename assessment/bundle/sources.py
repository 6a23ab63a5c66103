"""The source files of a bundle's layers and tables: named one by one, or found in a folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assessment.bundle.schema import LAYERS, TABLES
from assessment.formats import sqlite
from assessment.formats.detect import SQLITE
from switchyard.errors import BadInput

ENDINGS = (".gpkg", ".parquet", ".geoparquet", ".shp", ".zip", ".geojson", ".json", ".fgb", ".gml")
SQLITE_ENDINGS = (".gpkg", ".sqlite", ".db", ".sqlite3")
TABLE_ENDINGS = (".csv", *SQLITE_ENDINGS)


Place = tuple[Path, str | None]  # a file, and the name inside it, if one was given


@dataclass
class Sources:
    layers: dict[str, Place] = field(default_factory=dict)
    tables: dict[str, Place] = field(default_factory=dict)

    def add(self, name: str, place: str) -> None:
        """Add a source: `name=path`, or `name=path:inner` for a layer or table inside a file."""
        path, inner = Path(place), None
        if not path.exists() and ":" in place:
            head, inner = place.rsplit(":", 1)
            path = Path(head)
        if name in LAYERS:
            self.layers[name] = (path, inner)
        elif name in TABLES:
            self.tables[name] = (path, inner)
        else:
            known = ", ".join([*LAYERS, *TABLES])
            raise BadInput(f"{name!r} is not a layer or table of a bundle; known are {known}")


def in_folder(folder: Path) -> Sources:
    """Sources found in a folder: files such as `wwtw_catchments.gpkg` and `rates_lookup.csv`, and layers or
    tables with one of our names inside any GeoPackage or SQLite file."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder")
    found = Sources()
    files = sorted(path for path in folder.iterdir() if path.is_file())
    for path in files:
        for layer in LAYERS:
            if path.stem.casefold() == layer.casefold() and path.suffix.lower() in ENDINGS:
                found.layers.setdefault(layer, (path, None))
        for table in TABLES:
            if path.stem.casefold() == table.casefold() and path.suffix.lower() in TABLE_ENDINGS:
                found.tables.setdefault(table, (path, None))
    for path in filter(_is_sqlite, files):
        names = _names_in(path)
        for layer in (layer for layer in LAYERS if layer.casefold() in names):
            found.layers.setdefault(layer, (path, names[layer.casefold()]))
        for table in (table for table in TABLES if table.casefold() in names):
            found.tables.setdefault(table, (path, names[table.casefold()]))
    return found


def _is_sqlite(path: Path) -> bool:
    if path.suffix.lower() not in SQLITE_ENDINGS:
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _names_in(path: Path) -> Mapping[str, str]:
    """The tables of a file, by lower-case name."""
    with sqlite.opened(path) as connection:
        return {name.casefold(): name for name in sqlite.tables(connection)}


def merged(base: Sources, over: Sources) -> Sources:
    return Sources({**base.layers, **over.layers}, {**base.tables, **over.tables})
