"""The result that the process reading an upload returns: JSON and plain arrays, never pickle or WKB.

A file: 8 bytes with the length of the header, the header (JSON), the arrays one after the other, then the
columns: integers as an array, texts in UTF-8 separated by NUL. The reader of this file parses nothing whose
structure the upload controls, and checks the offsets before it builds polygons.
"""

import gc
import json
import mmap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import shapely

from assessment.arrays import Geometries, offsets

if TYPE_CHECKING:
    from assessment.intake.accept import Accepted

_KINDS = ("<f8", "<i8", "<i8", "<i8", "|b1")  # coordinates, three levels of offsets, whether it is a Polygon
_BETWEEN = "\0"  # `attributes.text` removes it from all texts, and no text is empty
_TEXTS, _WHOLE = "texts", "whole"


class Answer(NamedTuple):
    columns: Mapping[str, Sequence[Any]]
    geometry: Geometries
    notes: Mapping[int, Sequence[str]]
    remarks: Sequence[str]


def write(path: Path, accepted: "Accepted") -> None:
    arrays = [np.ascontiguousarray(array) for array in _ragged(accepted.vetted.geometry)]
    columns = {name: _packed(values) for name, values in accepted.columns.items()}
    header = {
        "columns": [(name, kind, len(packed)) for name, (kind, packed) in columns.items()],
        "notes": {str(number): said for number, said in accepted.vetted.notes().items()},
        "remarks": accepted.remarks,
        "lengths": [len(array) for array in arrays],
    }
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with path.open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for array in arrays:
            file.write(array.data)
        for _, packed in columns.values():
            file.write(packed)


def _packed(values: Sequence[Any]) -> tuple[str, bytes]:
    """Pack a column; as JSON, a hundred thousand texts would take three times as long."""
    if isinstance(values[0], int):
        return _WHOLE, np.array(values, "<i8").tobytes()
    return _TEXTS, _BETWEEN.join([value or "" for value in values]).encode()


def _unpacked(kind: str, packed: bytes) -> list[Any]:
    if kind == _WHOLE:
        whole: list[int] = np.frombuffer(packed, "<i8").tolist()
        return whole
    return [value or None for value in packed.decode().split(_BETWEEN)]


def _ragged(polygons: Geometries) -> list[npt.NDArray[Any]]:
    """The same as shapely.to_ragged_array, which takes twice as long."""
    single = shapely.get_type_id(polygons) == shapely.GeometryType.POLYGON
    parts, owner = polygons, np.arange(len(polygons))
    if not single.all():
        parts, owner = shapely.get_parts(polygons, return_index=True)
    holes = shapely.get_num_interior_rings(parts)
    rings = shapely.get_rings(parts) if holes.any() else parts  # without holes they have the same vertices
    counts = shapely.get_num_coordinates(rings), holes + 1, np.bincount(owner, minlength=len(polygons))
    return [shapely.get_coordinates(rings), *(offsets(count).astype("<i8") for count in counts), single]


def read(path: Path) -> Answer:
    """Read the answer; only after the process that wrote it has ended."""
    with _without_collecting():
        return _read(path)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Pause garbage collection: with a hundred thousand new objects, it would take a third of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _read(path: Path) -> Answer:
    with path.open("rb") as file:
        held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    at = 8 + int.from_bytes(held[:8], "little")
    header = json.loads(held[8:at])
    arrays = []
    for kind, length in zip(_KINDS, header["lengths"], strict=True):
        count = length * 2 if kind == "<f8" else length
        arrays.append(np.frombuffer(held, kind, count, at))
        at += arrays[-1].nbytes
    polygons = _polygons(arrays)
    columns = {}
    for name, kind, length in header["columns"]:
        columns[name] = _unpacked(kind, held[at : at + length])
        at += length
        if len(columns[name]) != len(polygons):
            raise ValueError("the columns of an answer do not fit together")
    notes = {int(number): tuple(said) for number, said in header["notes"].items()}
    return Answer(columns, polygons, notes, header["remarks"])


def _polygons(arrays: Sequence[npt.NDArray[Any]]) -> Geometries:
    coords, rings, polygons, parts, single = arrays
    for ends, last in ((rings, len(coords) // 2), (polygons, len(rings) - 1), (parts, len(polygons) - 1)):
        if ends[0] != 0 or ends[-1] != last or (np.diff(ends) < 0).any():
            raise ValueError("the offsets of an answer do not fit together")
    counts = np.diff(parts)
    if len(single) != len(counts) or (counts < 1).any() or (counts[single] != 1).any():
        raise ValueError("the polygons of an answer do not fit together")
    made: Geometries = shapely.from_ragged_array(
        shapely.GeometryType.POLYGON, coords.reshape(-1, 2), (rings, polygons)
    )
    if single.all():
        return made
    owner = np.repeat(np.arange(len(single)), counts)
    multiple = ~single[owner]
    found: Geometries = np.empty(len(single), dtype=object)
    found[single] = made[parts[:-1][single]]
    shapely.multipolygons(made[multiple], indices=owner[multiple], out=found)
    return found
