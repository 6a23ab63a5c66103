"""Results as a GeoPackage in EPSG:27700: a feature layer for rows with a geometry, a table for others."""

import sqlite3
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import shapely

from assessment.formats.sqlite import quoted, statement
from assessment.output.kinds import kind_of
from assessment.output.values import flat
from assessment.results import Table

SRS = 27700
_TYPES = {"integer": "INTEGER", "real": "REAL", "text": "TEXT"}


def write(path: Path, tables: Mapping[str, Table]) -> None:
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    try:
        with connection:
            connection.executescript(statement("gpkg_new"))
            connection.execute(statement("gpkg_srs"), {"definition": _wkt()})
            for name, table in tables.items():
                _table(connection, name, table)
    finally:
        connection.close()


def _wkt() -> str:
    import pyproj  # noqa: PLC0415 - only this format needs it

    return str(pyproj.CRS.from_epsg(SRS).to_wkt("WKT1_GDAL"))


def _table(connection: sqlite3.Connection, name: str, table: Table) -> None:
    values = {column: [flat(row[column]) for row in table.rows] for column in table.columns}
    kinds = {column: kind_of(of_column) for column, of_column in values.items()}
    shapes = table.geometry is not None
    names = {column: _free(column) for column in table.columns}
    declared = [f"{quoted(names[c])} {_TYPES[kinds[c]]}" for c in table.columns]
    create = statement("gpkg_table", table=name)
    connection.execute(
        create.replace("<declared>", ", ".join([*declared, *(["geom BLOB"] if shapes else [])]))
    )
    columns = [values[c] if kinds[c] != "text" else [_text(v) for v in values[c]] for c in table.columns]
    if table.geometry is not None:
        columns.append([_blob(geometry) for geometry in table.geometry])
    into = [*(names[c] for c in table.columns), *(["geom"] if shapes else [])]
    insert = statement("gpkg_insert", table=name, columns=into)
    insert = insert.replace("<values>", ", ".join("?" * len(into)))
    connection.executemany(insert, zip(*columns, strict=True) if columns else [])
    _register(connection, name, table)


def _free(column: str) -> str:
    """`fid` is the key's name; no result column may take it."""
    return f"{column}_" if column.lower() in ("fid", "geom") else column


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _register(connection: sqlite3.Connection, name: str, table: Table) -> None:
    if table.geometry is None:
        connection.execute(statement("gpkg_attributes"), {"name": name})
        return
    bounds: Sequence[float | None] = [None] * 4
    if len(table.geometry):
        bounds = shapely.total_bounds(table.geometry).tolist()
    box = dict(zip(("west", "south", "east", "north"), bounds, strict=True))
    connection.execute(statement("gpkg_features"), {"name": name, "srs": SRS, **box})
    connection.execute(statement("gpkg_geometry"), {"name": name, "srs": SRS})


def _blob(geometry: shapely.Geometry) -> bytes:
    """Little-endian header with the bounds, then WKB; always a MultiPolygon, as the layer is declared."""
    many = geometry if geometry.geom_type == "MultiPolygon" else shapely.multipolygons([geometry])
    west, south, east, north = shapely.bounds(geometry).tolist()
    header = b"GP\x00\x03" + struct.pack("<i4d", SRS, west, east, south, north)
    return header + bytes(shapely.to_wkb(many, byte_order=1))
