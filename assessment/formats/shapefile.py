"""Shapefiles of polygons, from a zip or from files side by side.

The format is small; reading it here avoids importing GDAL and allows a specific message for every defect.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from struct import Struct

import numpy as np
import shapely

from assessment.arrays import Floats
from assessment.formats.dbf import Table
from assessment.formats.rings import assemble
from assessment.formats.source import BATCH, Batch
from switchyard.errors import BadInput

MAGIC = b"\x00\x00\x27\x0a"
NULL_SHAPE = 0
POLYGONS = {5, 15, 25}
KINDS = {
    1: "points",
    3: "lines",
    8: "multipoints",
    11: "points",
    13: "lines",
    18: "multipoints",
    21: "points",
}
_HEADER_SIZE = 100
_RECORD = Struct(">ii")
_COUNTS = Struct("<ii")


class Shapefile:
    """The members by extension: shp is needed, dbf for attributes, prj for the coordinate system, cpg."""

    def __init__(self, members: Mapping[str, memoryview]) -> None:
        self._shp = members["shp"]
        if len(self._shp) < _HEADER_SIZE or bytes(self._shp[:4]) != MAGIC:
            raise BadInput("the .shp is not a shapefile")
        if len(self._shp) == _HEADER_SIZE:
            raise BadInput("the file has no features")
        kind = int.from_bytes(self._shp[32:36], "little")
        if kind not in POLYGONS | {NULL_SHAPE}:
            raise BadInput(f"the shapefile contains {KINDS.get(kind, 'other shapes')}; polygons are needed")
        cpg, prj = members.get("cpg"), members.get("prj")
        encoding = bytes(cpg).decode("ascii", errors="replace") if cpg is not None else None
        self._table = Table(members["dbf"], encoding) if "dbf" in members else None
        self.crs: str | None = (
            bytes(prj).decode(errors="replace").strip() or None if prj is not None else None
        )
        self.fields: Sequence[str] = self._table.fields if self._table else []

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        shapes: list[shapely.Geometry | None] = []
        rows: list[int] = []
        for row, shape in enumerate(self._shapes()):
            if self._table is not None and row >= self._table.count:
                raise BadInput(f"feature {row + 1}: the .dbf has no row for it")
            if self._table is None or not self._table.deleted(row):
                rows.append(row)
                shapes.append(shape)
            if len(shapes) == BATCH:
                yield self._batch(shapes, rows, columns)
                shapes, rows = [], []
        yield self._batch(shapes, rows, columns)

    def _batch(
        self, shapes: Sequence[shapely.Geometry | None], rows: Sequence[int], columns: Sequence[str]
    ) -> Batch:
        geometry = np.empty(len(shapes), dtype=object)
        geometry[:] = shapes
        return Batch(geometry, {c: self._table.column(c, rows) for c in columns} if self._table else {})

    def _shapes(self) -> Iterator[shapely.Geometry | None]:
        at, number = _HEADER_SIZE, 0
        while at < len(self._shp):
            number += 1
            try:
                _, words = _RECORD.unpack_from(self._shp, at)
            except struct.error as error:
                raise BadInput(f"feature {number}: the .shp ends in the middle of it") from error
            at += _RECORD.size
            if words < 2 or at + 2 * words > len(self._shp):
                raise BadInput(f"feature {number}: the .shp ends in the middle of it")
            yield _shape(self._shp[at : at + 2 * words], number)
            at += 2 * words


def _shape(record: memoryview, number: int) -> shapely.Geometry | None:
    kind = int.from_bytes(record[:4], "little")
    if kind == NULL_SHAPE:
        return None
    if kind not in POLYGONS or len(record) < 44:
        raise BadInput(f"feature {number}: is {KINDS.get(kind, 'no polygon')} in a shapefile of polygons")
    parts, points = _COUNTS.unpack_from(record, 36)
    end = 44 + 4 * parts + 16 * points
    if parts < 0 or points < 0 or end > len(record):
        raise BadInput(f"feature {number}: declares {points} points, more than its record contains")
    starts = np.frombuffer(record, "<i4", parts, 44)
    vertices = np.frombuffer(record, "<f8", 2 * points, 44 + 4 * parts).reshape(-1, 2)
    try:
        return assemble(_rings(vertices, starts, number), number)
    except shapely.errors.ShapelyError as error:
        raise BadInput(f"feature {number}: the geometry cannot be read: {error}") from error


def _rings(vertices: Floats, starts: np.ndarray[tuple[int], np.dtype[np.int32]], number: int) -> list[Floats]:
    ends = np.append(starts[1:], len(vertices))
    if len(starts) and (starts[0] != 0 or (ends < starts).any() or starts.max() > len(vertices)):
        raise BadInput(f"feature {number}: its rings are out of order")
    return [vertices[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
