"""Single rules of the compatible mode, by hand: rates of a batch, treatment works, overlapping features of one name."""

import pytest

from assessment.bundle.lookups import RateRow, Works
from assessment.editions import PackagePlant
from assessment.nutrient.rates import of_batch
from assessment.rules import careful, compatible
from tests.unit.assessment.world import PACKAGE, World, box, works

TABLE = {"A": RateRow("A", 2.0, 100.0), "B": RateRow("B", 4.0, 160.0)}
PLANT = PackagePlant("999", "package plant", 72.9, 9.7)
FULL = Works("7", "Seven", "Brook", (1.0, 2.0, 3.0, 4.0))


def test_a_site_without_a_row_gets_the_mean_of_the_sites_with_the_same_works() -> None:
    found = of_batch(["A", "B", None, "unknown", None], ["7", "7", "7", "7", "8"], TABLE)
    assert [(each.occupancy, each.litres) for each in found] == [
        (2.0, 100.0),
        (4.0, 160.0),
        (3.0, 130.0),
        (3.0, 130.0),
        (None, None),
    ]
    assert [bool(each.warnings) for each in found] == [False, False, True, True, True]


@pytest.mark.parametrize("count", range(1, 60))
def test_the_mean_of_equal_rates_is_that_rate(count: int) -> None:
    """A plain sum of 2.4 six times is 14.399999999999999."""
    found = of_batch(["A"] * count + [None], ["7"] * (count + 1), {"A": RateRow("A", 2.4, 120.0)})
    assert (found[-1].occupancy, found[-1].litres) == (2.4, 120.0)


def test_the_package_plant_is_recognised_by_its_code() -> None:
    table = {"7": FULL, "999": Works("999", "plant", None, (5.0, 5.0, 6.0, 6.0))}
    assert [compatible.treatment(code, table, PLANT).is_package for code in ("7", "999", "5")] == [
        False,
        True,
        False,
    ]
    assert [careful.treatment(code, table, PLANT).is_package for code in ("7", "999", "5")] == [
        False,
        True,
        True,
    ]
    assert compatible.treatment("999", {}, PLANT).is_package
    assert compatible.treatment("5", table, PLANT).concentrations == (None, None, None, None)
    assert careful.treatment("5", table, PLANT).concentrations == (5.0, 5.0, 6.0, 6.0)


def test_a_missing_concentration_is_reported_for_its_own_nutrient_only() -> None:
    no_nitrogen = Works("7", "Seven", None, (None, 2.0, 3.0, 4.0))
    no_phosphorus = Works("8", "Eight", None, (1.0, 2.0, 3.0, None))
    table = {"7": no_nitrogen, "8": no_phosphorus}
    assert careful.treatment("7", table, PLANT).warnings == (
        "works 7 has no nitrogen concentration: counted as 0",
    )
    assert careful.treatment("8", table, PLANT).warnings == (
        "works 8 has no phosphorus concentration: counted as 0",
    )
    assert careful.treatment("7", {"7": FULL}, PLANT).warnings == ()


def test_overlapping_features_of_one_name_count_their_ground_once(world: World) -> None:
    """Counted twice, the two pieces of works 7 would outweigh the larger ground of works 8."""
    pieces = [
        (box(100, 100, 140, 200), {"WwTw_ID": 7}),
        (box(100, 100, 140, 200), {"WwTw_ID": 7}),
        (box(140, 100, 200, 200), {"WwTw_ID": 8}),
    ]
    doubled = world.but(works=pieces, works_table=[works("7"), works("8"), PACKAGE])
    (row,) = doubled.assess(box(100, 100, 200, 200)).main.rows
    assert row["Majority_WwTw_ID"] == 8


def test_overlapping_features_of_one_name_count_all_their_ground(world: World) -> None:
    """No piece of works 7 is larger than the ground of works 8; together they are."""
    pieces = [
        (box(100, 100, 135, 200), {"WwTw_ID": 7}),
        (box(125, 100, 160, 200), {"WwTw_ID": 7}),
        (box(160, 100, 200, 200), {"WwTw_ID": 8}),
    ]
    split = world.but(works=pieces, works_table=[works("7"), works("8"), PACKAGE])
    (row,) = split.assess(box(100, 100, 200, 200)).main.rows
    assert row["Majority_WwTw_ID"] == 7
