"""The results of an assessment: tables of rows, some with geometries, a summary, and the provenance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assessment.arrays import Geometries

Row = Mapping[str, Any]
Kind = Literal["integer", "real", "text", "list"]
"""The type of a column; any value may be null. A list contains texts, which files store as one text."""

JOIN = " | "


@dataclass(frozen=True)
class Table:
    """Rows under ordered, typed columns; `geometry`, if there is any, has an entry per row, in EPSG:27700."""

    columns: Mapping[str, Kind]
    rows: Sequence[Row]
    geometry: Geometries | None = None

    def values(self, column: str) -> list[Any]:
        """The values of a column as files store them."""
        kind, values = self.columns[column], [row[column] for row in self.rows]
        if kind == "list":
            return [JOIN.join(value) for value in values]
        return [None if value is None else str(value) for value in values] if kind == "text" else values


@dataclass(frozen=True)
class Results:
    """The results; `tables` by name, the main one first."""

    assessment: str
    tables: Mapping[str, Table]
    summary: Mapping[str, Any]
    provenance: Mapping[str, Any]
    warnings: Sequence[str] = ()
    shapes: Mapping[str, Geometries] = field(default_factory=dict)
    """Geometries that a map should show besides the sites."""

    @property
    def main(self) -> Table:
        return next(iter(self.tables.values()))
