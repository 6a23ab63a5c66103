"""The published results of edition B and of the newt survey, reproduced by the compatible mode."""

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assessment import editions
from assessment.bundle.bundle import Bundle
from assessment.compute import compute, gather
from assessment.intake.upload import gcn_sites, nutrient_sites, survey
from assessment.nutrient import rows
from assessment.progress import silent
from assessment.spec import JobSpec

COMPATIBLE = JobSpec("nutrient", editions.load("B"), "compatible")
FROM_PARCELS = {"N_LU_Uplift", "P_LU_Uplift", "N_LU_postSuDS", "P_LU_postSuDS", "N_Total", "P_Total"}
GAPS = {44, 48, 70, 88, 91, 122, 123, 181, 188, 241}
"""Sites on gaps of the real coefficient layer, which the synthetic one does not have."""


def expected_rows(path: Path) -> dict[int, dict[str, str]]:
    with path.open(newline="") as file:
        return {int(row["RLB_ID"]): row for row in csv.DictReader(file)}


def same(expected: str, found: Any) -> bool:
    if found is None:
        return expected == ""
    if isinstance(found, int | float):
        return expected != "" and float(expected) == pytest.approx(found, rel=1e-12, abs=1e-9)
    return bool(expected == found)


def differences(expected: Mapping[int, Mapping[str, str]], found: list[rows.Row], but: set[str]) -> list[Any]:
    return [
        (row["RLB_ID"], column, value, row[column])
        for row in found
        for column, value in expected[row["RLB_ID"]].items()
        if column not in but and not same(value, row[column])
    ]


def test_all_that_does_not_need_the_coefficient_layer(nrf: Path, norfolk: Bundle) -> None:
    expected = expected_rows(nrf / "expected" / "BroadsWensum_IAT_101025_edition_B.csv")
    sites = nutrient_sites(nrf / "inputs" / "BnW_cleaned_110925.shp")
    found = compute(COMPATIBLE, sites, norfolk).main.rows
    assert [row["RLB_ID"] for row in found] == list(expected)
    assert len(found) == 217
    wrong = differences(expected, [dict(row) for row in found], FROM_PARCELS)
    assert {(number, column) for number, column, _, _ in wrong} == {(n, "AreaInNNCatchment") for n in GAPS}


def test_totals_from_the_expected_uplifts(nrf: Path, norfolk: Bundle) -> None:
    """With the real layer's uplifts put in, everything after them comes out to the last digit."""
    expected = expected_rows(nrf / "expected" / "BroadsWensum_IAT_101025_edition_B.csv")
    sites = nutrient_sites(nrf / "inputs" / "BnW_cleaned_110925.shp")
    facts = gather(COMPATIBLE, sites, norfolk, silent)
    for k, number in enumerate(sites.number):
        if expected.get(number, {}).get("N_LU_Uplift"):
            n, p = float(expected[number]["N_LU_Uplift"]), float(expected[number]["P_LU_Uplift"])
            facts[k] = replace(facts[k], land=replace(facts[k].land, nitrogen=n, phosphorus=p))
    found = rows.rows(sites, facts, norfolk.lookups, COMPATIBLE)
    assert not differences(expected, found, {"AreaInNNCatchment"})


@pytest.mark.parametrize("name", ["BnW_small_under_1_hectare.zip", "BnW_small_under_1_hectare.geojson"])
def test_one_small_site(nrf: Path, norfolk: Bundle, name: str) -> None:
    expected = expected_rows(nrf / "expected" / "BnW_small_under_1_hectare_edition_B.csv")
    found = compute(COMPATIBLE, nutrient_sites(nrf / "inputs" / name), norfolk).main.rows
    assert len(found) == 1
    assert not differences(expected, [dict(row) for row in found], FROM_PARCELS)


def test_the_newt_survey(nrf: Path, norfolk: Bundle) -> None:
    sites = gcn_sites(nrf / "inputs" / "SiteBoundary_00001.shp")
    ponds = survey(nrf / "inputs" / "SitePonds_00001.shp")
    results = compute(replace(COMPATIBLE, assessment="gcn"), sites, norfolk, ponds=ponds)
    with (nrf / "expected" / "gcn_survey_Habitat_Impact.psv").open() as file:
        areas = {
            (r["FID_RLB_Merge_with_Buffer"], r["RZ"]): float(r["Shape_Area"])
            for r in csv.DictReader(file, delimiter="|")
        }
    found = {
        (str(row["RLB_ID"] - 1) if row["RLB_ID"] else "4", row["RZ"]): row["Shape_Area"]
        for row in results.tables["habitat"].rows
    }
    assert found == pytest.approx(areas, abs=0.05, rel=0)
    with (nrf / "expected" / "gcn_survey_Ponds_Impact_Frequency.psv").open() as file:
        counts = [{**row, "FREQUENCY": int(row["FREQUENCY"])} for row in csv.DictReader(file, delimiter="|")]
    assert list(results.tables["ponds"].rows) == counts
