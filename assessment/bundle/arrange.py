"""Write a spooled layer in curve order, so that nearby features are close together in the files."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from assessment.arrays import Floats, Ints, offsets, spans
from assessment.bundle import boxtree, curve
from assessment.bundle.npy import NpyWriter, save
from assessment.bundle.spool import Spool

BLOCK = 50_000


def arrange(spool: Spool, folder: Path) -> int:
    """Write all arrays of the layer except `overlaps`; return the number of levels of boxes."""
    boxes = spool.taken("boxes", "<f8", (0, 4))
    along = curve.positions(boxes)
    order = np.argsort(along, kind="stable")
    feature = spool.taken("feature", "<i8")
    rows = _feature_order(feature, along, spool.features)
    rank = np.empty(len(rows), dtype=np.int64)
    rank[rows] = np.arange(len(rows))
    save(folder / "source_row.npy", rows)
    save(folder / "feature.npy", rank[feature[order]])
    save(folder / "area.npy", spool.taken("areas", "<f8")[order])
    boxes = boxes[order]
    levels = [boxes, *boxtree.grow(boxes)]
    for k, level in enumerate(levels):
        save(folder / f"boxes{k}.npy", level)
    _write_vertices(spool, folder, order)
    _write_columns(spool, folder, rows)
    return len(levels)


def _feature_order(feature: Ints, along: npt.NDArray[np.uint32], count: int) -> Ints:
    """Source rows in the order of their first piece; rows without area come last."""
    place = np.full(count, np.iinfo(np.int64).max, dtype=np.int64)
    first = np.flatnonzero(np.r_[True, feature[1:] != feature[:-1]]) if len(feature) else feature
    place[feature[first]] = along[first]
    return np.argsort(place, kind="stable")


def _write_vertices(spool: Spool, folder: Path, order: Ints) -> None:
    ring_sizes = spool.taken("ring_sizes", "<i8")
    piece_sizes = spool.taken("piece_sizes", "<i8")
    ring_starts, vertex_starts = offsets(piece_sizes)[:-1], offsets(ring_sizes)[:-1]
    vertices = _spooled(spool.vertices, int(ring_sizes.sum()))
    with (
        NpyWriter(folder / "coords.npy", "<f8", vertices.shape) as coords,
        NpyWriter(folder / "rings.npy", "<i8", (len(ring_sizes) + 1,)) as rings,
        NpyWriter(folder / "pieces.npy", "<i8", (len(piece_sizes) + 1,)) as parts,
    ):
        rings.write(np.zeros(1))
        parts.write(np.zeros(1))
        ring_end = vertex_end = 0
        for start in range(0, len(order), BLOCK):
            block = order[start : start + BLOCK]
            ring = spans(ring_starts[block], piece_sizes[block])
            coords.write(vertices[spans(vertex_starts[ring], ring_sizes[ring])])
            rings.write(vertex_end + np.cumsum(ring_sizes[ring]))
            parts.write(ring_end + np.cumsum(piece_sizes[block]))
            vertex_end += int(ring_sizes[ring].sum())
            ring_end += len(ring)


def _spooled(path: Path, count: int) -> Floats:
    if not count:
        return np.empty((0, 2))
    return np.asarray(np.memmap(path, dtype="<f8", mode="r", shape=(count, 2)))


def _write_columns(spool: Spool, folder: Path, rows: Ints) -> None:
    for column, parts in spool.numbers.items():
        save(folder / f"{column}.npy", np.concatenate(parts)[rows])
    for column, packed in spool.texts.items():
        _write_text(packed, folder / f"{column}.text.npy", folder / f"{column}.ends.npy", rows)


def _write_text(packed: list[tuple[bytes, Ints]], content_path: Path, ends_path: Path, rows: Ints) -> None:
    """Write the texts in the order of `rows`; nulls are preserved."""
    content = np.frombuffer(b"".join(text for text, _ in packed), dtype=np.uint8)
    before = offsets(np.array([len(text) for text, _ in packed], dtype=np.int64))
    reach = [
        np.where(ends < 0, -1 - ends, ends) + start
        for (_, ends), start in zip(packed, before[:-1], strict=True)
    ]
    stops = np.concatenate(reach) if reach else np.empty(0, np.int64)
    nulls = np.concatenate([ends < 0 for _, ends in packed]) if packed else np.empty(0, bool)
    starts = np.r_[0, stops[:-1]] if len(stops) else stops
    sizes = stops - starts
    ends = np.cumsum(sizes[rows])
    save(ends_path, np.where(nulls[rows], -1 - ends, ends))
    with NpyWriter(content_path, "|u1", (len(content),)) as writer:
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            writer.write(content[spans(starts[block], sizes[block])])
