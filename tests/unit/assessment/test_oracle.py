"""Every number of the compatible mode, to the last digit, against the specification written down a second time.

The worlds are rectangles with whole corners, so that every area is exact; sums are decimal, and roundings are
those of numpy, which the published implementation uses. Nothing here is taken from the product.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.assessment.small_worlds import SIZE, Plan, Rect, coefficients, rects
from tests.unit.assessment.world import PACKAGE, World, rate, works

RATES = {"A": (2.4, 120.0), "B": (2.05, 110.0), "A; B": (3.1, 90.0)}
CONCENTRATIONS: dict[str, tuple[float | None, ...]] = {
    "7": (27, 10, 1, 0.25),
    "8": (27, 20, 1, 0.25),
    "10": (27, None, 1, None),
    "141": (25, 25, 4.5, 4.5),
}
NAMES = {"7": "Works 7", "8": "Works 8", "10": "Works 10", "141": "Package Treatment Plant default"}
PLACES = st.one_of(rects(10), st.just((300, 300, 310, 310)))


@dataclass(frozen=True)
class Rules:
    permit: float
    suds_from: int
    green: float
    null_without_rates: bool = True
    null_without_concentration: bool = False
    keep_package: bool = False


EDITIONS = {
    "A": Rules(1.0, 0, 0.0, null_without_concentration=True, keep_package=True),
    "B": Rules(0.9, 0, 0.0),
    "C": Rules(0.9, 50, 0.2, null_without_rates=False),
}
plans = st.builds(
    Plan,
    parcels=st.lists(st.tuples(rects(20), coefficients), min_size=1, max_size=8),
    catchments=st.lists(st.tuples(rects(40), st.sampled_from("ABC")), min_size=1, max_size=3),
    works=st.lists(
        st.tuples(rects(40), st.sampled_from(["7", "8", "9", "10", "141"])), min_size=1, max_size=3
    ),
    sites=st.lists(st.tuples(PLACES, st.sampled_from([0, 1, 7, 49, 50, 333])), min_size=1, max_size=4),
)


HOMES = st.sampled_from([0, 1, 49, 50, 333])
TENS = rects(10).map(
    lambda rect: (*(10 * (each // 10) for each in rect[:2]), *(-10 * (-each // 10) for each in rect[2:]))
)
"""A coefficient of half a kilogram on a hundred square metres is half a hundredth."""
NITROGEN = st.sampled_from([0.0, 0.5, 1.5, 10.5, 14.25])
PHOSPHORUS = st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.5])
BLOCKS = st.sampled_from([(0, 0, SIZE, SIZE), (0, 0, 200, SIZE), (200, 0, SIZE, SIZE), (100, 0, 300, SIZE)])
odd_plans = st.builds(
    Plan,
    parcels=st.lists(
        st.tuples(TENS, st.tuples(NITROGEN, PHOSPHORUS, NITROGEN, PHOSPHORUS)), min_size=1, max_size=8
    ),
    catchments=st.lists(st.tuples(TENS, st.sampled_from("ABC")), min_size=1, max_size=3),
    works=st.lists(st.tuples(BLOCKS, st.sampled_from(["7", "8", "9", "10", "141"])), min_size=2, max_size=4),
    sites=st.tuples(TENS, TENS).flatmap(
        lambda two: st.lists(st.tuples(st.sampled_from(two), HOMES), min_size=2, max_size=5)
    ),
)


@given(plans, st.sampled_from("ABC"))
def test_every_number_is_the_specifications(plan: Plan, edition: str) -> None:
    same_to_the_last_digit(plan, edition)


@given(odd_plans, st.sampled_from("ABC"))
def test_every_number_is_the_specifications_on_odd_worlds(plan: Plan, edition: str) -> None:
    """Coefficients of zero, uplifts of half a hundredth, repeated sites, works that overlap and cover as much."""
    same_to_the_last_digit(plan, edition)


def test_odd_worlds_have_uplifts_of_half_a_hundredth() -> None:
    """What they are for, in one that is fixed: 3 and 5 halves of a hundredth are rounded to the even one."""
    plan = Plan(
        parcels=[((0, 0, 10, 30), (0.0, 0.0, 0.5, 0.0)), ((10, 0, 20, 50), (0.0, 0.0, 0.5, 0.0))],
        catchments=[((0, 0, SIZE, SIZE), "A")],
        works=[((0, 0, SIZE, SIZE), "8"), ((0, 0, SIZE, SIZE), "7")],
        sites=[((0, 0, 20, 50), 1), ((0, 0, 20, 50), 1)],
    )
    expected = list(rows(plan, EDITIONS["B"]))
    assert [row["N_LU_Uplift"] for row in expected] == [0.04, 0.04], "0.02 and 0.02"
    assert [row["Majority_WwTw_ID"] for row in expected] == [8, 8]
    same_to_the_last_digit(plan, "B")


def same_to_the_last_digit(plan: Plan, edition: str) -> None:
    world: World = plan.world().but(
        works_table=[works("7"), works("8", Nitrogen_2030_onwards=20), odd(), PACKAGE],
        rates=[rate(name, *numbers) for name, numbers in RATES.items()],
    )
    found = world.assess(*plan.shapes(), dwellings=plan.dwellings(), mode="compatible", edition=edition)
    expected = list(rows(plan, EDITIONS[edition]))
    assert [row["RLB_ID"] for row in found.main.rows] == [row["RLB_ID"] for row in expected]
    for ours, theirs in zip(found.main.rows, expected, strict=True):
        assert {name: ours[name] for name in theirs} == theirs


def odd() -> dict[str, Any]:
    return works("10", Nitrogen_2030_onwards="?", Phosphorus_2030_onwards=None)


def rows(plan: Plan, rules: Rules) -> Iterator[dict[str, Any]]:
    lands = [land(plan, rect, rules) for rect, _ in plan.sites]
    codes = [majority(plan, rect) for rect, _ in plan.sites]
    for k, ((_, homes), (area, names, uplifts), code) in enumerate(
        zip(plan.sites, lands, codes, strict=True)
    ):
        rates = rates_of(k, [names for _, names, _ in lands], codes)
        name = NAMES.get(code)
        if area is None and (name is None or (code == "141" and not rules.keep_package)):
            continue
        litres = None if rates is None else homes * (rates[0] * rates[1])
        numbers = CONCENTRATIONS.get(code, (None,) * 4)
        yield {
            "RLB_ID": k + 1,
            "Dwellings": homes,
            "AreaInNNCatchment": area,
            "NN_Catchment": names,
            "Majority_WwTw_ID": int(code),
            "WwTW_name": name,
            "Occ_Rate": rates and rates[0],
            "Water_Usage_L_Day": rates and rates[1],
            "Litres_used": litres,
            **nutrient("N", uplifts and uplifts[0], homes, litres, numbers[:2], rules),
            **nutrient("P", uplifts and uplifts[1], homes, litres, numbers[2:], rules),
        }


def land(plan: Plan, site: Rect, rules: Rules) -> tuple[float | None, str | None, tuple[float, float] | None]:
    """Each parcel in each catchment feature, rounded by itself, then added as decimals."""
    hectares = np.round(size(site) / 10_000, 2)
    share = rules.green if hectares >= 1.0 else 0.0
    total, names, nitrogen, phosphorus = 0, set(), Decimal(0), Decimal(0)
    for parcel, (n, p, n_homes, p_homes) in plan.parcels:
        for catchment, name in plan.catchments:
            shared = common(common(site, parcel), catchment)
            if size(shared) == 0:
                continue
            total += size(shared)
            names.add(name)
            area = size(shared) / 10_000
            nitrogen += hundredths(((1 - share) * n_homes + share * 3.0 - n) * area)
            phosphorus += hundredths(((1 - share) * p_homes + share * 0.2 - p) * area)
    if not names:
        return None, None, None
    return float(np.round(total / 10_000, 2)), "; ".join(sorted(names)), (float(nitrogen), float(phosphorus))


def majority(plan: Plan, site: Rect) -> str:
    """The single works with the most ground; of equal ones the first."""
    covered = [size(common(site, rect)) for rect, _ in plan.works]
    return plan.works[covered.index(max(covered))][1] if max(covered) else "141"


def rates_of(k: int, names: Sequence[str | None], codes: Sequence[str]) -> tuple[float, float] | None:
    own = [RATES.get(name or "") for name in names]
    mates = [found for found, code in zip(own, codes, strict=True) if found and code == codes[k]]
    if own[k] or not mates:
        return own[k]
    return math.fsum(o for o, _ in mates) / len(mates), math.fsum(u for _, u in mates) / len(mates)


def nutrient(
    letter: str,
    uplift: float | None,
    homes: int,
    litres: float | None,
    concentrations: Sequence[float | None],
    rules: Rules,
) -> dict[str, float | None]:
    reduction = 0.25 if homes >= rules.suds_from else 0.0
    after = None if uplift is None else rounded(uplift - abs(uplift) * reduction)
    temporary, permanent = (load(litres, each, rules) for each in concentrations)
    balance = (after or 0.0) + (permanent or 0.0)
    return {
        f"{letter}_LU_Uplift": uplift,
        f"{letter}_LU_postSuDS": after,
        f"{letter}_WwTW_Temp": rounded(temporary),
        f"{letter}_WwTW_Perm": rounded(permanent),
        f"{letter}_Total": rounded(balance + 0.20 * abs(balance)),
    }


def load(litres: float | None, concentration: float | None, rules: Rules) -> float | None:
    if litres is None and rules.null_without_rates:
        return None
    if concentration is None and rules.null_without_concentration:
        return None
    return (litres or 0.0) * 365.25 * ((concentration or 0.0) / 1_000_000) * rules.permit


def rounded(value: float | None) -> float | None:
    return None if value is None else float(np.round(value, 2))


def hundredths(value: float) -> Decimal:
    return Decimal(f"{np.round(value, 2):.2f}")


def common(one: Rect, other: Rect) -> Rect:
    return (
        max(one[0], other[0]),
        max(one[1], other[1]),
        min(one[2], other[2]),
        min(one[3], other[3]),
    )


def size(rect: Rect) -> int:
    """Square metres; 0 where there is nothing between the corners."""
    return max(rect[2] - rect[0], 0) * max(rect[3] - rect[1], 0)


@pytest.mark.parametrize("rect", [(0, 0, SIZE, SIZE), (0, 0, 0, 5), (5, 5, 4, 9)])
def test_the_oracle_measures_rectangles(rect: Rect) -> None:
    assert size(rect) == (SIZE * SIZE if rect[2] == SIZE else 0)
