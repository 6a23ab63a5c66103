"""Maps of whatever a workflow wrote: drawn where there is a geometry, and never an error."""

import json
from typing import Any

import pytest

from signalbox.pages.shapes import MOST, draw_features
from signalbox.pages.table import MOST_COLUMNS, result_table, tinted_by


def feature(x: float, y: float, **properties: Any) -> dict[str, Any]:
    ring = [[x, y], [x + 0.01, y], [x + 0.01, y + 0.01], [x, y]]
    return {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "properties": properties,
    }


SITES = [
    feature(-1.75, 51.88, id="A", name="South", dwellings=239, n_total=216.86),
    feature(-1.70, 51.86, id="B", name="North", dwellings=375, n_total=-4.5),
    feature(-1.60, 51.80, id="C", name="East", dwellings=8, n_total=None),
    feature(-1.65, 51.81, id="D", name="West", dwellings=9, n_total=900.0),
]


def test_shapes_lie_within_the_drawing_and_are_tinted_by_their_value() -> None:
    drawing = draw_features(SITES, "n_total")
    assert drawing is not None
    assert [drawn.shape.mark for drawn in drawing.shapes] == ["v2", "neg", "out", "v3"]
    assert drawing.shapes[0].shape.title == "South: n_total 216.86"
    for drawn in drawing.shapes:
        for pair in drawn.path.lstrip("M").split("L"):
            x, y = map(float, pair.split())
            assert 0 <= x <= 640
            assert 0 <= y <= drawing.height
    assert {line.name[-1] for line in drawing.lines} == {"W", "N"}
    assert len(json.loads(drawing.data)) == 4


@pytest.mark.parametrize(
    "geometry",
    [
        None, 7, "POINT(1 2)", {}, {"type": "Point"}, {"type": "Point", "coordinates": []},
        {"type": "Point", "coordinates": ["a", "b"]}, {"type": "Polygon", "coordinates": [[[1, float("nan")]]]},
        {"type": "GeometryCollection", "geometries": None},
    ],
)  # fmt: skip
def test_what_is_not_a_geometry_is_left_out(geometry: Any) -> None:
    assert draw_features([{"type": "Feature", "geometry": geometry, "properties": None}]) is None


@pytest.mark.parametrize(
    "geometry",
    [
        {"type": "Point", "coordinates": [179.9, -89.9, 12]},
        {"type": "MultiPolygon", "coordinates": [[[[-500, 95], [500, -95], [3, 4], [-500, 95]]]]},
        {
            "type": "GeometryCollection",
            "geometries": [{"type": "LineString", "coordinates": [[1, 2], [3, 4]]}],
        },
    ],
)
def test_every_kind_of_geometry_is_drawn(geometry: Any) -> None:
    drawing = draw_features([{"type": "Feature", "geometry": geometry}])
    assert drawing is not None
    assert drawing.height > 0


def test_of_very_many_features_the_first_are_drawn_and_the_rest_are_counted() -> None:
    drawing = draw_features([feature(0, 0)] * (MOST + 7))
    assert drawing is not None
    assert (len(drawing.shapes), drawing.left_out) == (MOST, 7)
    ring = [[number / 1000, 1.0] for number in range(30_000)]
    huge = {"type": "Feature", "geometry": {"type": "LineString", "coordinates": ring}}
    assert draw_features([huge]) is None


def test_a_table_has_a_label_what_differs_and_what_the_summary_adds_up() -> None:
    table = result_table(SITES, {"sites": 4, "n_total": 1112.36})
    assert table is not None
    assert table.columns == ["name", "dwellings", "n_total"]
    assert table.numeric == [False, True, True]
    assert table.rows[2] == ["East", 8, None]
    assert tinted_by(SITES, {"sites": 4, "n_total": 1112.36}) == "n_total"


def test_a_table_of_odd_properties_is_still_a_table() -> None:
    odd = [{"properties": {f"p{number}": number for number in range(50)} | {"list": [1], "flag": True}}, {}]
    table = result_table(odd, {})
    assert table is not None
    assert len(table.columns) == MOST_COLUMNS
    assert result_table([{}, {"properties": None}], {}) is None
    assert tinted_by([{}], {"n": 1}) is None
