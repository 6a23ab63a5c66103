"""What must not change a result: how a batch or a map is cut, in which order it comes, where the origin lies."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assessment import editions
from assessment.compute import compute
from assessment.nutrient import overlap
from assessment.spec import JobSpec
from tests.unit.assessment.small_worlds import Plan, plans
from tests.unit.assessment.world import Row, World, box, parcel, sites

few = settings(max_examples=settings().max_examples // 3)  # each example builds several bundles
FIGURE = re.compile(r"(?:(?<=only )|^)([\d.,]+) (%|ha|m²)(?= )")
UNITS = {"%": 1, "m²": 1, "ha": 10_000}
DEFAULT = JobSpec("nutrient", editions.load("C"))


def by_id(world: World, shapes: list[Any], dwellings: list[int]) -> dict[str, Mapping[str, Any]]:
    results = world.assess(*shapes, dwellings=dwellings)
    return {row["id"]: row for row in results.main.rows}


def assert_same(found: Mapping[str, Mapping[str, Any]], expected: Mapping[str, Mapping[str, Any]]) -> None:
    assert found.keys() == expected.keys()
    for name, row in expected.items():
        for column, value in row.items():
            if column == "RLB_ID":
                continue
            if isinstance(value, float):
                assert found[name][column] == pytest.approx(value, abs=0.0101), (name, column)
            elif column == "warnings":
                assert_reported(found[name][column], value)
            else:
                assert found[name][column] == value, (name, column)


def assert_reported(found: list[str], expected: list[str]) -> None:
    """The same words; of a figure, which has two digits, the last may be rounded up here and down there."""
    assert [FIGURE.sub("", text) for text in found] == [FIGURE.sub("", text) for text in expected]
    figures = [
        [
            float(figure.replace(",", "")) * UNITS[unit]
            for text in said
            for figure, unit in FIGURE.findall(text)
        ]
        for said in (found, expected)
    ]
    assert figures[0] == pytest.approx(figures[1], rel=0.101)


def alone(row: Mapping[str, Any]) -> dict[str, Any]:
    """Without the warnings that are about the other sites of the batch."""
    about_others = ("overlaps site", "has the same boundary")
    return {**row, "warnings": [text for text in row["warnings"] if not text.startswith(about_others)]}


def halves(rows: list[Row], k: int) -> list[Row]:
    """One feature cut in two along the middle, with an edge that is not straight."""
    shape, attributes = rows[k]
    x0, y0, x1, y1 = shapely.bounds(shape).tolist()
    middle = (x0 + x1) / 2
    cut = shapely.linestrings([(middle, y0 - 1), (middle - (x1 - x0) / 7, (y0 + y1) / 2), (middle, y1 + 1)])
    parts = shapely.get_parts(
        shapely.polygonize(shapely.get_parts(shapely.union(shapely.boundary(shape), cut)))
    )
    inside = [part for part in parts if shapely.contains(shape, shapely.point_on_surface(part))]
    return [*rows[:k], *((part, attributes) for part in inside), *rows[k + 1 :]]


@few
@given(plans, st.integers(1, 3))
def test_splitting_and_reordering_the_batch(plan: Plan, size: int) -> None:
    world = plan.world().bundle()
    batch = sites(*plan.shapes(), dwellings=plan.dwellings())
    whole = compute(DEFAULT, batch, world).main.rows
    split = [
        alone(row)
        for start in range(0, len(batch), size)
        for row in compute(DEFAULT, batch.part(start, start + size), world).main.rows
    ]
    chunked = compute(replace(DEFAULT, chunk_size=size), batch, world).main.rows
    assert list(whole) == list(chunked)
    assert [alone(row) for row in whole] == split
    backwards = sites(*plan.shapes()[::-1], dwellings=plan.dwellings()[::-1])
    turned = compute(DEFAULT, backwards, world).main.rows
    figures = [(row["N_Total"], row["P_Total"], row["NN_Catchment"]) for row in whole]
    assert figures == [(row["N_Total"], row["P_Total"], row["NN_Catchment"]) for row in turned][::-1]


@few
@given(plans, st.data())
def test_splitting_features(plan: Plan, data: st.DataObject) -> None:
    world = plan.world()
    expected = by_id(world, plan.shapes(), plan.dwellings())
    for layer in ("parcels", "catchments", "works", "subcatchments"):
        rows = list(getattr(world, layer))
        k = data.draw(st.integers(0, len(rows) - 1))
        assert_same(by_id(world.but(**{layer: halves(rows, k)}), plan.shapes(), plan.dwellings()), expected)


@few
@given(plans, st.data())
def test_order_of_features_and_copies_of_them(plan: Plan, data: st.DataObject) -> None:
    world = plan.world()
    expected = by_id(world, plan.shapes(), plan.dwellings())
    turned = world.but(parcels=list(world.parcels)[::-1], catchments=list(world.catchments)[::-1])
    assert_same(by_id(turned, plan.shapes(), plan.dwellings()), expected)
    k = data.draw(st.integers(0, len(world.catchments) - 1))
    doubled = world.but(catchments=[*world.catchments, world.catchments[k]])
    assert_same(by_id(doubled, plan.shapes(), plan.dwellings()), expected)


HALF_A_DIGIT = Plan(  # 315 square metres without a parcel, a hair more or less: 0.031 or 0.032 ha
    parcels=[
        ((88, 78, 391, 333), (3.0, 0.02, 10.5, 0.9)),
        ((182, 155, 398, 317), (3.0, 0.02, 10.5, 0.9)),
        ((351, 274, 398, 396), (3.0, 0.02, 10.5, 0.9)),
    ],
    catchments=[((346, 164, 398, 396), "A")],
    works=[((0, 0, 40, 40), "7")],
    sites=[((0, 0, 398, 396), 0)],
)


@few
@example(HALF_A_DIGIT, 0, -87)
@given(plans, st.integers(-200_000, 50_000), st.integers(-250_000, 500_000))
def test_moving_everything_by_whole_metres(plan: Plan, east: int, north: int) -> None:
    world = plan.world()
    expected = by_id(world, plan.shapes(), plan.dwellings())
    moved = [shapely.transform(shape, lambda c: c + np.array([east, north])) for shape in plan.shapes()]
    assert_same(by_id(world.moved(east, north), moved, plan.dwellings()), expected)


@few
@given(plans)
def test_a_parcel_far_away(plan: Plan) -> None:
    world = plan.world()
    expected = by_id(world, plan.shapes(), plan.dwellings())
    far = parcel(box(90_000, 90_000, 91_000, 91_000), 49.0, 4.9)
    assert_same(by_id(world.but(parcels=[*world.parcels, far]), plan.shapes(), plan.dwellings()), expected)


def test_a_site_of_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many pairs are looked at together bounds the memory, and changes no digit."""
    grid = [box(100 * i, 100 * j, 100 * i + 100, 100 * j + 100) for i in range(10) for j in range(10)]
    world = World(parcels=[parcel(cell, 5.0 + k % 40) for k, cell in enumerate(grid)]).bundle()
    round_one = shapely.buffer(box(200, 200, 700, 700), 55)
    batch = sites(round_one, box(30, 30, 950, 130), dwellings=[60, 5])
    whole = compute(DEFAULT, batch, world).main.rows
    monkeypatch.setattr(overlap, "BLOCK", 7)
    assert list(compute(DEFAULT, batch, world).main.rows) == list(whole)
    assert whole[0]["AreaInNNCatchment"] == round(float(shapely.area(round_one)) / 10_000, 2)
