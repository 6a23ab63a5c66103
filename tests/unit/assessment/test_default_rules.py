"""The default mode where the published implementation is wrong or silent, and the editions' differences."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from assessment import editions
from switchyard.errors import BadInput
from tests.unit.assessment.world import PACKAGE, World, box, parcel, rate, works

SITE = box(100, 100, 200, 200)


def only(world: World, shape: Any = SITE, **options: Any) -> Any:
    rows = world.assess(shape, **options).main.rows
    assert len(rows) == 1
    return rows[0]


def test_a_plain_site_by_hand(world: World) -> None:
    """One hectare of parcel (20 -> 10 kg N) in a catchment, 10 dwellings, works 7."""
    row = only(world, dwellings=10)
    assert row["Dev_Area_Ha"] == 1.0
    assert row["N_LU_Uplift"] == pytest.approx(0.8 * 10 + 0.2 * 3 - 20)
    assert row["P_LU_Uplift"] == pytest.approx(0.8 * 1.0 + 0.2 * 0.2 - 0.5)
    litres = 10 * 2.4 * 120
    assert row["Litres_used"] == pytest.approx(litres)
    permanent = litres * 365.25 * 10 / 1e6 * 0.9
    assert row["N_WwTW_Temp"] == round(litres * 365.25 * 27 / 1e6 * 0.9, 2)
    assert row["N_WwTW_Perm"] == round(permanent, 2)
    balance = -11.4 + permanent
    assert row["N_Total"] == pytest.approx(balance + 0.2 * abs(balance), abs=0.0051)
    assert row["warnings"] == []


@pytest.mark.parametrize(
    ("edition", "homes", "suds", "permit", "greenspace"),
    [
        ("A", 10, 0.25, 1.0, 0.0),
        ("B", 10, 0.25, 0.9, 0.0),
        ("C", 10, 0.0, 0.9, 0.2),
        ("C", 50, 0.25, 0.9, 0.2),
    ],
)
def test_editions(
    world: World, edition: str, homes: int, suds: float, permit: float, greenspace: float
) -> None:
    row = only(world, edition=edition, dwellings=homes)
    uplift = (1 - greenspace) * 10 + greenspace * 3 - 20
    assert row["N_LU_postSuDS"] == pytest.approx(uplift - abs(uplift) * suds, abs=0.0051)
    assert row["N_WwTW_Perm"] == pytest.approx(homes * 2.4 * 120 * 365.25 * 1e-5 * permit, abs=0.0051)


def test_greenspace_looks_at_the_rounded_area(world: World) -> None:
    almost = only(world, box(100, 100, 199.8, 200), edition="C")
    assert almost["Dev_Area_Ha"] == 1.0
    assert almost["N_LU_Uplift"] == pytest.approx((0.8 * 10 + 0.6 - 20) * 0.998, abs=0.0051)
    below = only(world, box(100, 100, 199, 200), edition="C")
    assert below["N_LU_Uplift"] == pytest.approx(-10 * 0.99, abs=0.0051)


def test_an_edition_of_ones_own(world: World, tmp_path: Path) -> None:
    own = tmp_path / "d.toml"
    own.write_text('default = "D"\n[edition.D]\ndate = 2027-01-01\npermit_factor = 0.5\nprecaution = 0.0\n')
    row = only(world, edition=str(own))
    assert row["N_WwTW_Perm"] == pytest.approx(10 * 2.4 * 120 * 365.25 * 1e-5 * 0.5, abs=0.0051)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("date = 2027-01-01\npermit_facto = 0.5", "edition D: permit_facto is not known"),
        ("permit_factor = 0.5", "edition D: date is missing"),
        ('date = 2027-01-01\npermit_factor = "high"', "edition D: permit_factor is 'high', not a number"),
        ("date = 2027-01-01\npermit_factor = nan", "edition D: permit_factor is nan, not a number"),
        ("date = 2027-01-01\nprecaution = -0.2", "edition D: precaution is -0.2, not a number from 0 on"),
        ("date = 2027-01-01\nsuds = 3", "edition D: suds is 3, not a table"),
        ("date = 2027-01-01\nsuds = {reduction = 0.3}", "edition D: suds: from_dwellings is missing"),
    ],
)
def test_an_edition_that_makes_no_sense(tmp_path: Path, words: str, message: str) -> None:
    (tmp_path / "d.toml").write_text(f"[edition.D]\n{words}\n")
    with pytest.raises(BadInput, match=message):
        editions.load(f"{tmp_path / 'd.toml'}:D")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read the editions in .*No such file"),
        (b"[edition", "cannot read the editions in .*d.toml: Expected"),
        (b"\xff", "cannot read the editions in"),
        (b"date = 2027-01-01", r"has no \[edition.NAME\] table"),
        (b"common = 3\n[edition.D]", r"or its \[common\] is not a table"),
        (b'default = "D"\n[edition]\nD = 1', "edition.D is not a table"),
        (b'default = "E"\n[edition.D]', "edition 'E' is not known; there are D"),
        (b"default = []\n[edition.D]", "edition .* is not known; there are D"),
        (b"[edition.D]", "edition None is not known; there are D"),
    ],
)
def test_a_file_without_the_edition(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "d.toml").write_bytes(content)
    with pytest.raises(BadInput, match=message):
        editions.load(str(tmp_path / "d.toml"))


def test_rates_weighted_by_area_in_each_catchment(world: World) -> None:
    two = world.but(
        catchments=[
            (box(0, 0, 150, 1000), {"N2K_Site_N": "A"}),
            (box(150, 0, 1000, 1000), {"N2K_Site_N": "B"}),
        ],
        rates=[rate("A", 2.0, 100), rate("B", 3.0, 140)],
    )
    row = only(two, box(140, 100, 180, 200), dwellings=100)
    assert row["NN_Catchment"] == "A; B"
    assert (row["Occ_Rate"], row["Water_Usage_L_Day"]) == (pytest.approx(2.75), pytest.approx(130))
    assert any("several nutrient catchments" in warning for warning in row["warnings"])
    alone = only(two, box(140, 100, 180, 200), mode="compatible")
    assert alone["Occ_Rate"] is None
    assert alone["N_WwTW_Perm"] == 0.0
    assert alone["Litres_used"] is None
    for edition in "AB":
        assert only(two, box(140, 100, 180, 200), mode="compatible", edition=edition)["N_WwTW_Perm"] is None


def test_overlapping_catchments_count_once(world: World) -> None:
    both = world.but(
        catchments=[
            (box(0, 0, 160, 1000), {"N2K_Site_N": "A"}),
            (box(140, 0, 1000, 1000), {"N2K_Site_N": "B"}),
        ],
        rates=[rate("A"), rate("B")],
    )
    row = only(both)
    assert row["AreaInNNCatchment"] == 1.0
    assert row["N_LU_Uplift"] == pytest.approx(-11.4)
    assert only(both, mode="compatible")["AreaInNNCatchment"] == 1.2


def test_a_catchment_without_a_name(world: World) -> None:
    """Its ground counts like any other; only its rates cannot be looked up."""
    halves = [(box(0, 0, 150, 1000), {"N2K_Site_N": None}), (box(150, 0, 1000, 1000), {"N2K_Site_N": "Mere"})]
    row = only(world.but(catchments=halves))
    assert (row["AreaInNNCatchment"], row["NN_Catchment"]) == (1.0, "Mere")
    assert row["N_LU_Uplift"] == pytest.approx(-11.4)
    assert only(world.but(catchments=halves[:1]), box(10, 10, 110, 110))["AreaInNNCatchment"] == 1.0


def test_overlapping_parcels_share_the_ground(world: World) -> None:
    twice = world.but(parcels=[parcel(box(0, 0, 1000, 1000), 20.0), parcel(box(100, 100, 150, 200), 30.0)])
    row = only(twice)
    assert row["AreaInNNCatchment"] == 1.0
    assert row["N_LU_Uplift"] == pytest.approx(0.5 * -11.4 + 0.5 * (-11.4 - 21.4) / 2, abs=0.0051)
    assert only(twice, mode="compatible")["AreaInNNCatchment"] == 1.5


def test_hotels_and_students_by_category(world: World) -> None:
    hotel = only(world, category="hotel")
    assert (hotel["Occ_Rate"], hotel["Water_Usage_L_Day"]) == (1.0, 240.0)
    assert only(world, category="hotel", mode="compatible")["Occ_Rate"] == 2.4
    students = world.but(rates=[rate("Mere"), rate("Student Accommodation", 1.0, 120)])
    assert only(students, category="student_accommodation")["Occ_Rate"] == 1.0


def test_a_category_without_letters_is_not_the_name_of_a_row(world: World) -> None:
    odd = world.but(rates=[rate("Mere"), rate("?", 9.0, 999)])
    assert only(odd, category="-")["Occ_Rate"] == 2.4


def test_a_site_in_no_catchment_keeps_its_works(world: World) -> None:
    outside = world.but(catchments=[(box(500, 500, 1000, 1000), {"N2K_Site_N": "Mere"})])
    row = only(outside)
    assert row["AreaInNNCatchment"] is None
    assert row["N_LU_postSuDS"] is None
    assert row["Occ_Rate"] == 2.4
    assert any("standard occupancy" in warning for warning in row["warnings"])
    compatible = only(outside, mode="compatible")
    assert (compatible["Occ_Rate"], compatible["N_Total"]) == (None, 0.0)


def test_out_of_scope_without_catchment_and_works(world: World) -> None:
    bare = world.but(
        catchments=[(box(500, 500, 1000, 1000), {"N2K_Site_N": "Mere"})],
        works=[(box(500, 500, 1000, 1000), {"WwTw_ID": 7})],
    )
    for mode in ("default", "compatible"):
        results = bare.assess(SITE, box(600, 600, 700, 700), mode=mode)
        assert [row["RLB_ID"] for row in results.main.rows] == [2]
        assert results.summary["sites_submitted"] == 2
        assert results.warnings


def test_a_works_that_the_lookup_lacks(world: World) -> None:
    unknown = world.but(works=[(box(0, 0, 1000, 1000), {"WwTw_ID": 99})])
    row = only(unknown)
    assert row["Majority_WwTw_ID"] == 99
    assert (row["WwTW_name"], row["WwTw_SubCatchment"]) == ("Package Treatment Plant default", "Brook")
    assert row["N_WwTW_Perm"] == pytest.approx(10 * 288 * 365.25 * 25e-6 * 0.9, abs=0.0051)
    assert any("works 99 is not in the lookup" in warning for warning in row["warnings"])
    compatible = only(unknown, mode="compatible")
    assert compatible["WwTW_name"] is None
    assert compatible["N_WwTW_Perm"] == 0.0


def test_no_works_at_all_is_a_package_plant_of_the_sites_brook(world: World) -> None:
    row = only(world.but(works=[(box(500, 500, 1000, 1000), {"WwTw_ID": 7})]))
    assert (row["Majority_WwTw_ID"], row["WwTw_SubCatchment"]) == (141, "Brook")
    assert any("no works' catchment" in warning for warning in row["warnings"])


def test_an_edition_without_the_package_plant_in_the_lookup(world: World) -> None:
    row = only(world.but(works=[(box(500, 500, 1000, 1000), {"WwTw_ID": 7})], works_table=[works("7")]))
    assert row["Nitrogen_2030_onwards"] == 25.0
    assert row["Phosphorus_2030_onwards"] == 4.5


def test_weak_majorities_are_named(world: World) -> None:
    weak = world.but(works=[(box(100, 100, 102, 200), {"WwTw_ID": 7})])
    row = only(weak)
    assert row["Majority_WwTw_ID"] == 7
    assert "works 7 covers only 2 % of the site" in row["warnings"]


def test_majority_by_name_against_single_features(world: World) -> None:
    """Two halves of one works outweigh a larger single piece of another; compatible looks at single features."""
    pieces = [
        (box(100, 100, 130, 200), {"WwTw_ID": 7}),
        (box(130, 100, 160, 200), {"WwTw_ID": 7}),
        (box(160, 100, 200, 200), {"WwTw_ID": 8}),
    ]
    halves = world.but(works=pieces, works_table=[works("7"), works("8"), PACKAGE])
    assert only(halves)["Majority_WwTw_ID"] == 7
    assert only(halves, mode="compatible")["Majority_WwTw_ID"] == 8


def test_concentrations_that_are_not_numbers(world: World) -> None:
    odd = world.but(works_table=[works("7", Nitrogen_2030_onwards="f"), PACKAGE])
    row = only(odd)
    assert row["Nitrogen_2030_onwards"] is None
    assert row["N_WwTW_Perm"] == 0.0
    assert any("no nitrogen concentration" in warning for warning in row["warnings"])


def test_codes_are_cleaned_and_the_first_is_used(world: World) -> None:
    table = [works("\t7"), works("7.0", Nitrogen_2030_onwards=99), works(None), PACKAGE]
    assert only(world.but(works_table=table))["Nitrogen_2030_onwards"] == 10.0


def test_ground_without_parcels_or_coefficients_is_reported(world: World) -> None:
    gappy = world.but(parcels=[parcel(box(0, 0, 150, 1000)), parcel(box(150, 0, 160, 1000), None)])
    row = only(gappy)
    assert row["AreaInNNCatchment"] == 0.6
    assert any("no land-use parcel" in warning for warning in row["warnings"])
    assert any("no coefficient" in warning for warning in row["warnings"])


def test_the_default_mode_rounds_once(world: World) -> None:
    """A hundred parcels whose single uplifts round to nothing."""
    stripes = [parcel(box(100 + k, 0, 101 + k, 1000), 10.3, 0.5, 10.0, 0.5) for k in range(100)]
    row = only(world.but(parcels=stripes), edition="B")
    assert row["N_LU_Uplift"] == pytest.approx(-0.3)
    assert only(world.but(parcels=stripes), edition="B", mode="compatible")["N_LU_Uplift"] == 0.0


def test_an_edge_on_a_border_is_not_a_catchment(world: World) -> None:
    """Ground that only touches the next catchment lies in one, wherever floating point puts the edge."""
    turned = shapely.affinity.rotate(box(0, 0, 300, 300), 17.3, origin=(600_000, 300_000))
    beside = shapely.affinity.rotate(box(300, 0, 600, 300), 17.3, origin=(600_000, 300_000))
    pair = world.but(
        parcels=[parcel(box(-500, -500, 1500, 1500))],
        catchments=[(turned, {"N2K_Site_N": "A"}), (beside, {"N2K_Site_N": "B"})],
        rates=[rate("A"), rate("B")],
    )
    site = shapely.affinity.rotate(box(200, 100, 300, 200), 17.3, origin=(600_000, 300_000))
    assert only(pair, site)["NN_Catchment"] == "A"


def test_results_do_not_depend_on_numpy_order(world: World) -> None:
    rows = world.assess(*[box(10 * k, 0, 10 * k + 9, 50) for k in range(40)]).main.rows
    assert len({row["N_LU_Uplift"] for row in rows}) == 1
    assert np.isfinite([row["N_Total"] for row in rows]).all()
