"""Rows of a lookup table, from CSV or from a table of a SQLite file."""

import csv
from pathlib import Path
from typing import Any

from assessment.formats import sqlite
from assessment.formats.detect import SQLITE
from switchyard.errors import BadInput


def read_table(path: Path, table: str, inner: str | None = None) -> list[dict[str, Any]]:
    """All rows. In a SQLite file the table is called `inner`, or else `table`; case is ignored."""
    try:
        with path.open("rb") as file:
            is_sqlite = file.read(len(SQLITE)) == SQLITE
        if is_sqlite:
            return _from_sqlite(path, inner or table)
        if inner is not None:
            raise BadInput(f"{path.name} is not a SQLite file: there is no table {inner} inside")
        return _from_csv(path)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from error


def _from_csv(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{path.name} is not CSV in UTF-8: {error}") from error
    return [{key: value or None for key, value in row.items() if key} for row in rows]


def _from_sqlite(path: Path, table: str) -> list[dict[str, Any]]:
    with sqlite.opened(path) as connection:
        found = [name for name in sqlite.tables(connection) if name.casefold() == table.casefold()]
        if not found:
            raise BadInput(f"{path.name} has no table {table}")
        columns = sqlite.columns(connection, found[0])
        query = sqlite.statement("rows", table=found[0], columns=columns)
        return [dict(zip(columns, row, strict=True)) for row in connection.execute(query)]
