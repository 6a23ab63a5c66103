"""Results as CSV: UTF-8, one header line, empty cells for nulls."""

import csv
from pathlib import Path
from typing import Any

from assessment.results import Table


def write(path: Path, table: Table) -> None:
    columns = [map(_cell, table.values(column)) for column in table.columns]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows(zip(*columns, strict=True))


def _cell(value: Any) -> Any:
    """Text that a spreadsheet would execute as a formula is prefixed with an apostrophe."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value
