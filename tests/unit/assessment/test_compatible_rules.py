"""The compatible mode where the published implementation's arithmetic decides, and the rules of editions A and C."""

from typing import Any

import numpy as np
import pytest

from tests.unit.assessment.world import PACKAGE, World, box, parcel, works

SITE = box(100, 100, 200, 200)
ELSEWHERE = box(500, 500, 1000, 1000)


def rows(world: World, edition: str, *shapes: Any, **options: Any) -> list[Any]:
    return list(world.assess(*(shapes or (SITE,)), mode="compatible", edition=edition, **options).main.rows)


def test_rounded_uplifts_are_added_as_whole_hundredths(world: World) -> None:
    """Many parcels whose sum is a tie after SuDS: the noise of a binary sum must not decide it."""
    generator = np.random.default_rng(19)
    for _ in range(20):
        hundredths = generator.integers(1, 60, 30)
        hundredths[0] += (2 - hundredths.sum()) % 4  # three quarters of the sum is half a hundredth
        parcels = [
            parcel(box(100 + 3 * k, 100, 103 + 3 * k, 200), 20.0, 0.5, 20.0 + h / 3, 0.5)
            for k, h in enumerate(hundredths.tolist())
        ]
        row = rows(world.but(parcels=parcels), "B", box(100, 100, 190, 200), dwellings=60)[0]
        total = int(hundredths.sum()) / 100
        assert row["N_LU_Uplift"] == total
        assert row["N_LU_postSuDS"] == np.round(total - total * 0.25, 2)


@pytest.mark.parametrize(("edition", "expected"), [("A", None), ("B", 0.0), ("C", 0.0)])
def test_a_null_concentration_gives_a_null_load_in_edition_a(
    world: World, edition: str, expected: float | None
) -> None:
    odd = world.but(works_table=[works("7", Nitrogen_2030_onwards="f"), PACKAGE])
    row = rows(odd, edition)[0]
    assert row["N_WwTW_Perm"] == expected
    assert row["N_WwTW_Temp"] > 0
    assert row["N_Total"] < 0  # of the land use alone: a null load counts as 0


@pytest.mark.parametrize(("edition", "expected"), [("A", None), ("B", None), ("C", 0.0)])
def test_without_rates_the_loads_are_zero_in_edition_c(
    world: World, edition: str, expected: float | None
) -> None:
    outside = world.but(catchments=[(ELSEWHERE, {"N2K_Site_N": "Mere"})])
    row = rows(outside, edition)[0]
    loads = [row[f"{nutrient}_WwTW_{when}"] for nutrient in "NP" for when in ("Temp", "Perm")]
    assert loads == [expected] * 4
    assert (row["Occ_Rate"], row["Litres_used"], row["N_Total"]) == (None, None, 0.0)


@pytest.mark.parametrize(("edition", "kept"), [("A", True), ("B", False), ("C", False)])
def test_a_package_plant_outside_every_catchment_stays_in_edition_a(
    world: World, edition: str, kept: bool
) -> None:
    bare = world.but(catchments=[(ELSEWHERE, {"N2K_Site_N": "Mere"})], works=[(ELSEWHERE, {"WwTw_ID": 7})])
    assert [row["WwTW_name"] for row in rows(bare, edition)] == [PACKAGE["WwTW_name"]] * kept
    unknown = bare.but(works=[(box(0, 0, 400, 400), {"WwTw_ID": 99})])
    assert rows(unknown, edition) == []
