"""A feature becomes a STAC Item, or a sentence that says why not."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.backends.stac.bbox import bbox
from switchyard.backends.stac.item import ItemTemplate
from switchyard.backends.stac.model import StacAction
from switchyard.handlers import Work

UUID_7 = UUID("01890000-0000-7000-8000-000000000001")
FEATURE: dict[str, Any] = {
    "type": "Feature",
    "geometry": {"type": "Polygon", "coordinates": [[[1, 51], [2, 51], [2, 52.5], [1, 51]]]},
    "properties": {"n_total": 12.5},
}


def work(item: Any) -> Work:
    created = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    return Work(UUID_7, 1, 1, False, "stac", None, None, None, {"item": item}, None, created)


def build(item: Any, **settings: Any) -> dict[str, Any]:
    action = StacAction.model_validate({"url": "https://stac.example", "collection": "sites", **settings})
    return ItemTemplate(action).build(work(item))


def test_the_plain_case() -> None:
    assert build(FEATURE) == {
        "type": "Feature",
        "stac_version": "1.0.0",
        "stac_extensions": [],
        "id": str(UUID_7),
        "collection": "sites",
        "geometry": FEATURE["geometry"],
        "bbox": [1.0, 51.0, 2.0, 52.5],
        "properties": {"n_total": 12.5, "datetime": "2026-01-02T03:04:05Z"},
        "links": [],
        "assets": {},
    }


def test_ids_and_times_come_from_the_template_then_the_feature_then_the_action() -> None:
    feature = {**FEATURE, "id": 7, "properties": {"site": "a", "datetime": "2025-06-01T10:00:00+02:00"}}
    assert build(feature)["id"] == "7"
    assert build(feature)["properties"]["datetime"] == "2025-06-01T08:00:00Z"
    templates = {
        "item_id": "{{ parameters.item.properties.site }}-{{ action.run }}",
        "datetime": "2020-01-01T00:00:00Z",
        "collection": "c-{{ parameters.item.properties.site }}",
    }
    item = build(feature, **templates)
    assert (item["id"], item["collection"]) == ("a-1", "c-a")
    assert item["properties"]["datetime"] == "2020-01-01T00:00:00Z"


def test_what_a_feature_has_of_an_item_is_stored() -> None:
    own = {
        "assets": {"map": {"href": "s3://a/b"}},
        "links": [{"rel": "self", "href": "x"}],
        "stac_version": "1.1.0",
    }
    item = build({**FEATURE, **own})
    assert {name: item[name] for name in own} == own


def test_no_geometry_means_no_box() -> None:
    item = build({**FEATURE, "geometry": None})
    assert item["geometry"] is None
    assert "bbox" not in item


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"type": "Point"}, "not a GeoJSON Feature"),
        ({"id": "a/../b"}, "a path can hold"),
        ({"id": ".."}, "a path can hold"),
        ({"id": ""}, "a path can hold"),
        ({"id": "a?b"}, "a path can hold"),
        ({"id": "a\r\nb"}, "a path can hold"),
        ({"id": "x" * 300}, "a path can hold"),
        ({"id": {"a": 1}}, "a path can hold"),
        ({"id": True}, "a path can hold"),
        ({"properties": []}, None),
        ({"properties": "text"}, "not an object"),
        ({"properties": {"datetime": "yesterday"}}, "RFC 3339"),
        ({"properties": {"datetime": 12}}, "RFC 3339"),
        ({"properties": {"datetime": "2025-06-01T10:00:00"}}, "no zone"),
        ({"geometry": "POINT(1 1)"}, "not a GeoJSON object"),
        ({"geometry": {"type": "Circle"}}, "not of a GeoJSON type"),
        ({"geometry": {"type": "Point", "coordinates": [1]}}, "one number"),
        ({"geometry": {"type": "Point", "coordinates": []}}, "no positions"),
        ({"geometry": {"type": "Point", "coordinates": "1,2"}}, "not a list"),
        ({"geometry": {"type": "Point", "coordinates": [400_000, 200_000]}}, "degrees"),
        ({"geometry": {"type": "Point", "coordinates": [float("nan"), 1]}}, "not a list"),
        ({"geometry": {"type": "GeometryCollection"}}, "no geometries"),
    ],
)
def test_what_makes_no_item(change: dict[str, Any], error: str | None) -> None:
    if error is None:
        assert build({**FEATURE, **change})["id"] == str(UUID_7)
        return
    with pytest.raises(ValueError, match=error):
        build({**FEATURE, **change})


@given(st.lists(st.tuples(st.floats(-180, 180), st.floats(-90, 90)), min_size=1, max_size=20))
def test_the_box_holds_every_position(positions: list[tuple[float, float]]) -> None:
    line = {"type": "LineString", "coordinates": [list(position) for position in positions]}
    found = bbox(
        {"type": "GeometryCollection", "geometries": [line, {"type": "Point", "coordinates": [0, 0, 99]}]}
    )
    assert found is not None
    west, south, east, north = found
    assert all(west <= x <= east and south <= y <= north for x, y in [*positions, (0, 0)])
