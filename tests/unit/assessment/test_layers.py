"""The parts of a layer: curve, tree of boxes, pieces, texts, overlaps."""

from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from assessment.arrays import spans
from assessment.bundle import boxtree, curve
from assessment.bundle.parcels import Ground
from assessment.bundle.pieces import LARGEST, pieces, subdivide
from assessment.bundle.text import Text, pack
from benchmarks.assessment import scale
from tests.unit.assessment.world import World, box, parcel

numbers = st.integers(0, 2**32)


def random_boxes(
    seed: int, count: int, size: float = 400.0
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    generator = np.random.default_rng(seed)
    low = generator.uniform((0, 0), (700_000, 1_300_000), (count, 2))
    return np.hstack((low, low + generator.uniform(0, size, (count, 2))))


@given(numbers, st.integers(1, 900), st.integers(1, 9))
def test_the_tree_finds_what_a_look_at_every_box_finds(seed: int, count: int, queries: int) -> None:
    boxes = random_boxes(seed, count, 60_000)
    asked = random_boxes(seed + 1, queries, 90_000)
    found = set(
        zip(*(array.tolist() for array in boxtree.search([boxes, *boxtree.grow(boxes)], asked)), strict=True)
    )
    expected = {
        (q, k)
        for q, a in enumerate(asked)
        for k, b in enumerate(boxes)
        if a[0] <= b[2] and a[2] >= b[0] and a[1] <= b[3] and a[3] >= b[1]
    }
    assert found == expected


def test_neighbours_on_the_curve_are_neighbours_on_the_ground() -> None:
    """All cells of a square of 64 x 64: every step along the curve is one cell long."""
    side = (1 << curve.ORDER) - 1
    x, y = np.meshgrid(np.arange(64), np.arange(64))
    east, north = x.ravel() / side * 700_000 + 1e-3, y.ravel() / side * 1_300_000 + 1e-3
    order = np.argsort(curve.positions(np.column_stack((east, north, east, north))))
    steps = np.abs(np.diff(x.ravel()[order])) + np.abs(np.diff(y.ravel()[order]))
    assert (steps == 1).all()


@given(numbers)
def test_pieces_are_small_and_cover_the_same_ground(seed: int) -> None:
    generator = np.random.default_rng(seed)
    angles = np.sort(generator.uniform(0, 2 * np.pi, 3_000))
    reach = 5_000 + generator.uniform(0, 400, len(angles))
    whole = shapely.polygons(np.column_stack((np.cos(angles) * reach, np.sin(angles) * reach)) + 300_000)
    holed = shapely.difference(whole, shapely.buffer(shapely.Point(300_000, 300_000), 900, quad_segs=200))
    parts = subdivide(holed)
    assert max(shapely.get_num_coordinates(parts)) <= LARGEST
    assert shapely.area(parts).sum() == pytest.approx(holed.area, rel=1e-12)
    assert shapely.area(shapely.symmetric_difference(shapely.union_all(parts), holed)) < 1e-3


def test_pieces_of_nothing_and_of_many_parts() -> None:
    many = shapely.MultiPolygon([box(0, 0, 1, 1), box(5, 5, 6, 6)])
    cut = pieces(
        np.array([None, shapely.Polygon(), many, shapely.LineString([(0, 0), (1, 1)])], dtype=object)
    )
    assert cut.feature.tolist() == [2, 2]
    assert cut.empty == 3


@given(st.lists(st.none() | st.text(max_size=5), max_size=12))
def test_texts_come_back(texts: list[str | None]) -> None:
    content, ends = pack(texts)
    assert Text(np.frombuffer(content, dtype=np.uint8), ends).all() == texts


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), max_size=9))
def test_spans(parts: list[tuple[int, int]]) -> None:
    starts, counts = (
        np.array(column, dtype=np.int64) for column in (zip(*parts, strict=True) if parts else ([], []))
    )
    assert spans(starts, counts).tolist() == [start + k for start, count in parts for k in range(count)]


@pytest.mark.parametrize(
    ("shapes", "overlapping"),
    [
        ([box(0, 0, 10, 10), box(10, 0, 20, 10)], 0),
        ([box(0, 0, 10, 10), box(10, 10, 20, 20)], 0),
        ([box(0, 0, 20, 20), box(20, 0, 30, 10), box(20, 10, 30, 20)], 0),
        ([box(0, 0, 10, 10), box(0, 0, 10, 10)], 2),
        ([box(0, 0, 30, 30), box(10, 10, 20, 20)], 2),
        ([box(0, 0, 10, 10), box(5, 5, 15, 15), box(50, 50, 60, 60)], 2),
        ([box(0, 0, 10, 10), box(10, 0, 20, 10), box(0, 0, 20, 5), box(0, 5, 20, 10)], 4),
    ],
)
def test_overlaps_are_found_at_the_build(world: World, shapes: list[object], overlapping: int) -> None:
    layer = world.but(parcels=[parcel(shape) for shape in shapes]).bundle().layer("coefficient_layer")
    assert int(layer.overlaps.sum()) == overlapping


def test_a_large_layer_is_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "AT_ONCE", 100)
    for parcels, groups in ((400, [100] * 4), (410, [100] * 4 + [10])):
        scale.write(tmp_path / "parcels.parquet", Ground(parcels))
        written = pyarrow.parquet.ParquetFile(tmp_path / "parcels.parquet").metadata
        assert [written.row_group(k).num_rows for k in range(written.num_row_groups)] == groups
        names = pyarrow.parquet.read_table(tmp_path / "parcels.parquet")["crome_id"].to_pylist()
        assert names == [f"P{number:08d}" for number in range(parcels)]


def test_a_layer_in_curve_order_keeps_its_attributes(world: World) -> None:
    generator = np.random.default_rng(8)
    corners = generator.permutation(400)
    rows = [
        parcel(box(40 * (k % 20), 40 * (k // 20), 40 * (k % 20) + 40, 40 * (k // 20) + 40), k / 10)
        for k in corners
    ]
    layer = world.but(parcels=rows).bundle().layer("coefficient_layer")
    middles = shapely.get_coordinates(shapely.centroid(layer.polygons(np.arange(len(layer.feature))))) - [
        600_000,
        300_000,
    ]
    expected = (middles[:, 0] // 40 + 20 * (middles[:, 1] // 40)) / 10
    assert layer.numbers("lu_curr_n_coeff")[layer.feature] == pytest.approx(expected)
    assert sorted(layer.source_row.tolist()) == list(range(400))
