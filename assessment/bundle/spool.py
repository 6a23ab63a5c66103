"""Temporary storage of a layer while it is read: vertices in a file, data needed for sorting in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from assessment.arrays import Floats, Ints
from assessment.bundle.lookups import code_of, number_of, text_of
from assessment.bundle.pieces import pieces
from assessment.bundle.schema import Kind
from assessment.bundle.text import pack
from assessment.formats.layers import Batch


@dataclass
class Spool:
    """Arrays collected by batch; `vertices` is the file with the coordinates."""

    vertices: Path
    kinds: Mapping[str, Kind]
    on_grid: bool = False
    features: int = 0
    repaired: int = 0
    empty: int = 0
    ring_sizes: list[Ints] = field(default_factory=list)
    piece_sizes: list[Ints] = field(default_factory=list)
    boxes: list[Floats] = field(default_factory=list)
    areas: list[Floats] = field(default_factory=list)
    feature: list[Ints] = field(default_factory=list)
    numbers: dict[str, list[Floats]] = field(default_factory=dict)
    texts: dict[str, list[tuple[bytes, Ints]]] = field(default_factory=dict)

    def add(self, batch: Batch, names: Mapping[str, str]) -> None:
        """Cut a batch into pieces and store them; `names` maps our column names to the source's."""
        cut = pieces(batch.geometry, on_grid=self.on_grid)
        if len(cut.polygon):
            _, coords, (rings, parts) = shapely.to_ragged_array(cut.polygon)
            with self.vertices.open("ab") as file:
                np.ascontiguousarray(coords, dtype="<f8").tofile(file)
            self.ring_sizes.append(np.diff(rings).astype(np.int32))
            self.piece_sizes.append(np.diff(parts).astype(np.int32))
            self.boxes.append(shapely.bounds(cut.polygon))
            self.areas.append(shapely.area(cut.polygon))
            self.feature.append(cut.feature + self.features)
        for column, source in names.items():
            self._column(column, batch.columns[source])
        self.features += len(batch.geometry)
        self.repaired += cut.repaired
        self.empty += cut.empty

    def _column(self, column: str, values: Sequence[Any]) -> None:
        if self.kinds[column] == "number":
            self.numbers.setdefault(column, []).append(_numbers(values))
        else:
            clean = code_of if self.kinds[column] == "code" else text_of
            self.texts.setdefault(column, []).append(pack(clean(value) for value in values))

    def taken(self, name: str, dtype: str, shape: tuple[int, ...] = (0,)) -> npt.NDArray[Any]:
        """All batches of one array, concatenated. The batches are released, so this can be called once."""
        parts = getattr(self, name)
        joined = np.concatenate(parts).astype(dtype, copy=False) if parts else np.empty(shape, dtype)
        parts.clear()
        return joined


def _numbers(values: Sequence[Any]) -> Floats:
    """Convert values to numbers: numeric texts are parsed, everything else is NaN."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        plain = (number_of(value) for value in values)
        return np.array([np.nan if v is None else v for v in plain], dtype=np.float64)
