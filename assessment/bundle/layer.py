"""An open layer of a bundle: memory-mapped arrays, of which a query reads only what it needs.

A feature is a row of the source; a piece is a single polygon of at most a few hundred vertices, cut from a
feature. Areas are computed for pieces and summed by feature. Pieces and features are stored in curve order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from assessment.arrays import Bools, Floats, Geometries, Ints, spans
from assessment.bundle import boxtree
from assessment.bundle.text import Text

Column = Floats | Ints | Text


@dataclass(frozen=True)
class Layer:
    name: str
    coords: Floats
    rings: Ints
    pieces: Ints
    feature: Ints
    area: Floats
    overlaps: Bools
    levels: Sequence[Floats]
    source_row: Ints
    columns: Mapping[str, Column]
    cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.source_row)

    def check(self, features: int, pieces: int, vertices: int) -> None:
        """Raise ValueError if the arrays do not match each other or the counts in the manifest."""
        lengths = {
            "source_row": (len(self.source_row), features),
            "feature": (len(self.feature), pieces),
            "area": (len(self.area), pieces),
            "overlaps": (len(self.overlaps), pieces),
            "boxes0": (len(self.levels[0]), pieces),
            "pieces": (len(self.pieces), pieces + 1),
            "coords": (len(self.coords), vertices),
            "the last of pieces": (int(self.pieces[-1]), len(self.rings) - 1),
            "the last of rings": (int(self.rings[-1]), vertices),
            **{name: (len(values), features) for name, values in self.columns.items()},
        }
        for what, (found, expected) in lengths.items():
            if found != expected:
                raise ValueError(f"{what} is {found:,} instead of {expected:,}")

    def near(self, boxes: Floats) -> tuple[Ints, Ints]:
        """Pairs (query, piece) whose bounding boxes intersect."""
        if not len(self.feature) or not len(boxes):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return boxtree.search(self.levels, boxes)

    def polygons(self, pieces: Ints) -> Geometries:
        """The polygons of the given pieces, built from the memory-mapped arrays."""
        ring_starts = self.pieces[pieces]
        ring_counts = self.pieces[pieces + 1] - ring_starts
        rings = spans(ring_starts, ring_counts)
        vertex_starts = self.rings[rings]
        vertex_counts = self.rings[rings + 1] - vertex_starts
        coords = self.coords[spans(vertex_starts, vertex_counts)]
        ends = (np.cumsum(np.r_[0, vertex_counts]), np.cumsum(np.r_[0, ring_counts]))
        polygons: Geometries = shapely.from_ragged_array(shapely.GeometryType.POLYGON, coords, ends)
        return polygons

    def numbers(self, column: str) -> Floats:
        values = self.columns[column]
        assert not isinstance(values, Text)
        return np.asarray(values, dtype=np.float64)

    def texts(self, column: str) -> list[str | None]:
        """A text column, by feature; decoded as a whole, so only suitable for layers of modest size."""
        if column not in self.cache:
            values = self.columns[column]
            assert isinstance(values, Text)
            self.cache[column] = values.all()
        texts: list[str | None] = self.cache[column]
        return texts


def open_layer(
    folder: Path, name: str, columns: Mapping[str, str], levels: int, *, compared: bool = True
) -> Layer:
    """Memory-map the arrays that `arrange` wrote to `folder`; `compared`: whether its overlaps are known."""

    def mapped(part: str) -> Any:
        path = folder / f"{part}.npy"
        return np.asarray(np.lib.format.open_memmap(path, mode="r"))

    feature = mapped("feature")
    return Layer(
        name=name,
        coords=mapped("coords"),
        rings=mapped("rings"),
        pieces=mapped("pieces"),
        feature=feature,
        area=mapped("area"),
        overlaps=mapped("overlaps") if compared else np.zeros(len(feature), dtype=bool),
        levels=[mapped(f"boxes{k}") for k in range(levels)],
        source_row=mapped("source_row"),
        columns={
            column: Text(mapped(f"{column}.text"), mapped(f"{column}.ends"))
            if kind == "text"
            else mapped(column)
            for column, kind in columns.items()
        },
    )
