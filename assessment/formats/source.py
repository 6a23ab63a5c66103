"""The interface of all readers: a coordinate system, field names, and features in batches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from assessment.arrays import Geometries

BATCH = 50_000


@dataclass(frozen=True)
class Batch:
    """Features as arrays: geometries as they were read (None where there is none), columns by name."""

    geometry: Geometries
    columns: Mapping[str, Sequence[Any]]


class Source(Protocol):
    """An open file of features. Every problem is a BadInput that says what and where."""

    @property
    def crs(self) -> str | None:
        """As declared: an authority code, WKT or PROJJSON; None where nothing is declared."""

    @property
    def fields(self) -> Sequence[str]:
        """Names of the attributes."""

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All features in file order, with the attributes asked for."""
