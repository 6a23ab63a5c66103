"""Results against independent computations: random worlds cell by cell, the sample with plain geopandas."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from assessment import editions
from assessment.bundle.bundle import Bundle
from assessment.compute import compute
from assessment.intake.upload import nutrient_sites
from assessment.spec import JobSpec
from tests.unit.assessment.small_worlds import Plan, count_cells, count_rows, plans


def greenspace_of(rect: Any) -> float:
    hectares = round((rect[2] - rect[0]) * (rect[3] - rect[1]) / 10_000, 2)
    return 0.2 if hectares >= 1.0 else 0.0


@given(plans)
def test_default_mode_counts_every_square_once(plan: Plan) -> None:
    results = plan.world().assess(*plan.shapes(), dwellings=plan.dwellings())
    rows = {row["RLB_ID"]: row for row in results.main.rows}
    for number, (rect, homes) in enumerate(plan.sites, 1):
        counted = count_cells(plan, rect, greenspace_of(rect))
        row = rows.get(number)
        if counted.area == 0:
            assert row is None or row["AreaInNNCatchment"] is None
            continue
        assert row is not None
        assert row["AreaInNNCatchment"] == pytest.approx(counted.area, abs=0.0051)
        assert row["N_LU_Uplift"] == pytest.approx(counted.nitrogen, abs=0.0051)
        assert row["P_LU_Uplift"] == pytest.approx(counted.phosphorus, abs=0.0051)
        assert row["NN_Catchment"] == "; ".join(sorted(counted.by_name))
        assert row["Litres_used"] == pytest.approx(homes * expected_litres(counted.by_name))
        assert row["AreaInNNCatchment"] <= row["Dev_Area_Ha"]


def expected_litres(areas: dict[str, float]) -> float:
    people = {"A": 2.4, "B": 2.0, "C": 3.0}
    litres = {"A": 120, "B": 110, "C": 140}
    total = sum(areas.values())
    mean_people = sum(people[name] * area for name, area in areas.items()) / total
    return mean_people * sum(litres[name] * area for name, area in areas.items()) / total


@given(plans)
def test_compatible_mode_counts_every_pair(plan: Plan) -> None:
    results = plan.world().assess(*plan.shapes(), dwellings=plan.dwellings(), mode="compatible", edition="C")
    for row in results.main.rows:
        rect, homes = plan.sites[row["RLB_ID"] - 1]
        area, nitrogen, phosphorus = count_rows(plan, rect, greenspace_of(rect))
        if row["AreaInNNCatchment"] is None:
            assert area < 1e-8
            continue
        assert row["AreaInNNCatchment"] == pytest.approx(area, abs=0.0051)
        # a product that falls on half a hundredth may go either way, once for a pair
        loose = 0.0101 * len(plan.parcels) * len(plan.catchments)
        assert row["N_LU_Uplift"] == pytest.approx(nitrogen, abs=loose)
        assert row["P_LU_Uplift"] == pytest.approx(phosphorus, abs=loose)
        left = 0.75 if homes >= 50 else 1.0
        uplift = row["N_LU_Uplift"]
        assert row["N_LU_postSuDS"] == pytest.approx(uplift - abs(uplift) * (1 - left), abs=0.0051)


def test_the_sample_against_geopandas(nrf: Path, norfolk: Bundle, tmp_path: Path) -> None:
    """Every uplift of the 245 sites, by overlay of the same layers with geopandas."""
    import geopandas

    from assessment.bundle.parcels import Ground
    from benchmarks.assessment import scale

    parcels = tmp_path / "parcels.parquet"
    scale.write(parcels, Ground(25_600, 570_000.0, 268_000.0, 500.0))
    sites = nutrient_sites(nrf / "inputs" / "BnW_cleaned_110925.shp")
    ours = compute(JobSpec("nutrient", editions.load("C"), "compatible"), sites, norfolk).main.rows
    frame = geopandas.GeoDataFrame(
        {"site": sites.number, "ha": sites.hectares}, geometry=list(sites.geometry), crs=27700
    )
    catchments = geopandas.read_file(nrf / "reference" / "nn_catchments.gpkg")[["geometry"]]
    found = geopandas.overlay(frame, geopandas.read_parquet(parcels), keep_geom_type=True)
    found = geopandas.overlay(found, catchments, keep_geom_type=True)
    green = np.where(found["ha"] >= 1.0, 0.2, 0.0)
    size = found.geometry.area / 10_000
    found["N"] = (
        ((1 - green) * found["n_resi_coeff"] + green * 3.0 - found["lu_curr_n_coeff"]) * size
    ).round(2)
    found["P"] = (
        ((1 - green) * found["p_resi_coeff"] + green * 0.2 - found["lu_curr_p_coeff"]) * size
    ).round(2)
    sums = found.groupby("site")[["N", "P"]].sum()
    with_land = [row for row in ours if row["N_LU_Uplift"] is not None]
    assert len(with_land) == len(sums) == 209
    for row in with_land:
        assert row["N_LU_Uplift"] == pytest.approx(sums.loc[row["RLB_ID"], "N"], abs=1e-6)
        assert row["P_LU_Uplift"] == pytest.approx(sums.loc[row["RLB_ID"], "P"], abs=1e-6)
