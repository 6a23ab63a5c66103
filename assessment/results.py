"""What an assessment comes to: tables of rows, some with ground, a summary, and where it all came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assessment.arrays import Geometries

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """Rows under ordered columns; `geometry`, where there is one, has an entry a row, in EPSG:27700."""

    columns: Sequence[str]
    rows: Sequence[Row]
    geometry: Geometries | None = None


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
