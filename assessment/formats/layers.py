"""Stream layers of reference data. The files are the operator's own, so they are read in this process."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from assessment.arrays import Geometries
from assessment.formats import archive, gdal
from assessment.formats.detect import format_of
from assessment.formats.geoparquet import GeoParquet, values

BATCH = 50_000


@dataclass(frozen=True)
class Batch:
    """Features as arrays: geometries (None if missing), and columns by name."""

    geometry: Geometries
    columns: Mapping[str, Sequence[Any]]


class LayerSource:
    """One layer of a file: its coordinate system, its fields, and its features in batches."""

    def __init__(self, path: Path, layer: str | None = None) -> None:
        kind = format_of(path)
        self._parquet = GeoParquet(path) if kind == "parquet" else None
        if self._parquet is not None:
            self.crs, self.fields = self._parquet.crs, self._parquet.fields
            return
        self._place = f"/vsizip/{{{path}}}/{archive.inside(path, 2**40)}" if kind == "zip" else str(path)
        self._layer = gdal.chosen(self._place, layer)
        self.crs, self.fields = gdal.described(self._place, self._layer)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        if self._parquet is not None:
            for shapes, read in self._parquet.batches(columns, BATCH):
                yield Batch(_geometries(shapes), read)
            return
        for shapes, arrays in gdal.stream(self._place, self._layer, columns, BATCH):
            yield Batch(_geometries(shapes), {name: values(array) for name, array in arrays.items()})


def _geometries(shapes: Any) -> Geometries:
    if len(shapes) and isinstance(shapes[0], shapely.Geometry):
        return np.asarray(shapes, dtype=object)
    return np.asarray(shapely.force_2d(shapely.from_wkb(shapes)), dtype=object)
