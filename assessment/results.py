"""What an assessment comes to: tables of rows, some with ground, a summary, and where it all came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assessment.arrays import Geometries

Row = Mapping[str, Any]
Kind = Literal["integer", "real", "text", "list"]
"""The type of a column; any value may be null. A list is of texts, and files hold it as one text."""

JOIN = " | "


@dataclass(frozen=True)
class Table:
    """Rows under ordered, typed columns; `geometry`, if there is one, has an entry per row, in EPSG:27700."""

    columns: Mapping[str, Kind]
    rows: Sequence[Row]
    geometry: Geometries | None = None

    def values(self, column: str) -> list[Any]:
        """One column as files take it."""
        kind, values = self.columns[column], [row[column] for row in self.rows]
        if kind == "list":
            return [JOIN.join(value) for value in values]
        return [None if value is None else str(value) for value in values] if kind == "text" else values


@dataclass(frozen=True)
class Results:
    """`tables` by name, the main one first."""

    assessment: str
    tables: Mapping[str, Table]
    summary: Mapping[str, Any]
    provenance: Mapping[str, Any]
    warnings: Sequence[str] = ()
    shapes: Mapping[str, Geometries] = field(default_factory=dict)
    """What a map of it should show besides the sites."""

    @property
    def main(self) -> Table:
        return next(iter(self.tables.values()))
