"""The validated sites of one assessment: only what the calculations need."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import shapely

from assessment.arrays import Floats, Geometries


@dataclass(frozen=True)
class Site:
    """One site; `area` in square metres, `hectares` rounded."""

    number: int
    id: str | None
    name: str | None
    category: str | None
    source: str | None
    dwellings: int
    area: float
    hectares: float


@dataclass(frozen=True)
class Sites:
    """Columns by site, in input order, in EPSG:27700. `number` is RLB_ID, also in a part of a batch."""

    number: tuple[int, ...]
    id: tuple[str | None, ...]
    name: tuple[str | None, ...]
    category: tuple[str | None, ...]
    source: tuple[str | None, ...]
    dwellings: tuple[int, ...]
    geometry: Geometries
    notes: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Changes to boundaries during reading, by RLB_ID; they become warnings of the row."""
    remarks: tuple[str, ...] = ()
    """Remarks about the whole file; they become warnings of the result."""

    def __len__(self) -> int:
        return len(self.geometry)

    @cached_property
    def area(self) -> Floats:
        areas: Floats = shapely.area(self.geometry)
        return areas

    @cached_property
    def hectares(self) -> Floats:
        """Dev_Area_Ha, rounded; the greenspace rule uses the rounded value."""
        return np.round(self.area / 10_000, 2)

    def each(self) -> Iterator[Site]:
        columns = (self.number, self.id, self.name, self.category, self.source, self.dwellings)
        return (Site(*row) for row in zip(*columns, self.area.tolist(), self.hectares.tolist(), strict=True))

    def part(self, start: int, stop: int) -> "Sites":
        cut = slice(start, stop)
        return Sites(
            number=self.number[cut],
            id=self.id[cut],
            name=self.name[cut],
            category=self.category[cut],
            source=self.source[cut],
            dwellings=self.dwellings[cut],
            geometry=self.geometry[cut],
            notes={number: self.notes[number] for number in self.number[cut] if number in self.notes},
            remarks=self.remarks,
        )

    def notes_of(self, k: int) -> list[str]:
        """The notes of the site at position `k`."""
        return list(self.notes.get(self.number[k], ()))
