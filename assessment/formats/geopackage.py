"""GeoPackages, read with sqlite3: a header of known length, then WKB."""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assessment.formats import sqlite, wkb
from assessment.formats.source import BATCH, Batch
from switchyard.errors import BadInput

_ENVELOPES = (0, 32, 48, 48, 64)


class GeoPackage:
    """One feature layer: the one asked for, or the only one."""

    def __init__(self, path: Path, layer: str | None = None) -> None:
        self._path = path
        with sqlite.opened(path) as connection:
            found = _layer(connection, layer, path)
            self._table, self._geometry, _kind, organisation, code, definition = found
            if self._table not in sqlite.tables(connection):
                raise BadInput(f"{path.name}: layer {self._table!r:.80} is not a table")
            names = sqlite.columns(connection, self._table)
            if self._geometry not in names:
                raise BadInput(f"{path.name}: layer {self._table!r:.80} has no column {self._geometry!r:.80}")
            self.fields: Sequence[str] = [name for name in names if name != self._geometry]
        self.crs: str | None = _crs(organisation, code, definition)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        query = sqlite.statement("rows", table=self._table, columns=[self._geometry, *columns])
        with sqlite.opened(self._path) as connection:
            rows = connection.execute(query)
            first = 1
            while chunk := rows.fetchmany(BATCH):
                values = list(zip(*chunk, strict=True))
                contents = [_wkb(blob, first + k) for k, blob in enumerate(values[0])]
                yield Batch(wkb.read(contents, first), dict(zip(columns, values[1:], strict=True)))
                first += len(chunk)


def _layer(connection: sqlite3.Connection, wanted: str | None, path: Path) -> tuple[Any, ...]:
    if "gpkg_contents" not in sqlite.tables(connection):
        raise BadInput(f"{path.name} is a SQLite file but not a GeoPackage")
    layers = connection.execute(sqlite.statement("gpkg_layers")).fetchall()
    named = [layer for layer in layers if wanted is None or layer[0] == wanted]
    if len(named) == 1:
        return tuple(named[0])
    names = ", ".join(str(layer[0]) for layer in layers) or "none"
    raise BadInput(
        f"{path.name}: one feature layer is needed{f', {wanted}' if wanted else ''}; it has {names}"
    )


def _crs(organisation: object, code: object, definition: object) -> str | None:
    """-1 and 0 mean an undefined system in the standard; GDAL has its own codes."""
    if organisation is None or code in (-1, 0, None):
        return None
    if str(organisation).upper() == "EPSG":
        return f"EPSG:{code}"
    text = str(definition or "undefined")
    return None if "undefined" in text.casefold()[:40] else text


def _wkb(blob: Any, number: int) -> bytes | None:
    if blob is None:
        return None
    if not isinstance(blob, bytes) or blob[:2] != b"GP" or len(blob) < 8:
        raise BadInput(f"feature {number}: the geometry is not a GeoPackage geometry")
    envelope = (blob[3] >> 1) & 0x07
    if envelope >= len(_ENVELOPES) or blob[3] & 0x20:
        raise BadInput(f"feature {number}: the type of the geometry is not supported")
    return blob[8 + _ENVELOPES[envelope] :]
