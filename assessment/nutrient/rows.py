"""Facts, rates and works become the rows of the result (steps 6 to 11): the whole batch, and cheap."""

from collections.abc import Sequence
from typing import Any

from assessment.bundle.lookups import CONCENTRATIONS, Lookups
from assessment.editions import Edition
from assessment.nutrient import rates, wastewater
from assessment.nutrient.facts import Facts
from assessment.nutrient.landuse import HECTARE, LandUse
from assessment.nutrient.rates import SiteRates
from assessment.nutrient.repeats import shared_ground
from assessment.nutrient.warn import of_facts
from assessment.nutrient.wastewater import Treatment
from assessment.sites import Site, Sites
from assessment.spec import JobSpec, Mode

Row = dict[str, Any]


def rows(sites: Sites, facts: Sequence[Facts], lookups: Lookups, job: JobSpec) -> list[Row]:
    """One row per site in scope, in input order."""
    return [row for row in every(sites, facts, lookups, job) if in_scope(row, job.edition)]


def every(sites: Sites, facts: Sequence[Facts], lookups: Lookups, job: JobSpec) -> list[Row]:
    """One row per site. `catchments`, no column of the result, is its area in hectares by catchment."""
    codes = [fact.works.name or job.edition.package_plant.code for fact in facts]
    rates_of = _rates(sites, facts, codes, lookups, job)
    made = [
        _row(site, fact, of_site, _treatment(code, lookups, job), job)
        for site, fact, of_site, code in zip(sites.each(), facts, rates_of, codes, strict=True)
    ]
    for k, said in enumerate(shared_ground(sites)):
        made[k]["warnings"] = [*sites.notes_of(k), *said, *made[k]["warnings"]]
    return made


def in_scope(row: Row, edition: Edition) -> bool:
    """Step 11: outside every catchment, a site needs a works; editions differ on the package plant."""
    if row["AreaInNNCatchment"] is not None:
        return True
    is_package = row["WwTW_name"] == edition.package_plant.name
    return row["WwTW_name"] is not None and (edition.keep_package_outside or not is_package)


def why_out(row: Row, edition: Edition) -> str:
    """The reason why a site is out of scope."""
    code = row["Majority_WwTw_ID"]
    if str(code) == edition.package_plant.code:
        return "in no nutrient catchment, and drains to no works: a package treatment plant is assumed"
    return f"in no nutrient catchment, and its works {code} has no entry in the lookup"


def _treatment(code: str, lookups: Lookups, job: JobSpec) -> Treatment:
    if job.mode == "compatible":
        return wastewater.compatible(code, lookups.works, job.edition.package_plant)
    return wastewater.careful(code, lookups.works, job.edition.package_plant)


def _rates(
    sites: Sites, facts: Sequence[Facts], codes: Sequence[str], lookups: Lookups, job: JobSpec
) -> list[SiteRates]:
    if job.mode == "compatible":
        return rates.of_batch([joined(fact) for fact in facts], codes, lookups.rates)
    return [
        rates.of_site(category, fact.land.catchments, lookups.rates, job.edition.standard_rates)
        for category, fact in zip(sites.category, facts, strict=True)
    ]


def joined(fact: Facts) -> str | None:
    """The names of a site's catchments as one text."""
    return None if fact.land.area is None else "; ".join(sorted(fact.land.catchments))


def _row(site: Site, fact: Facts, of_site: SiteRates, works: Treatment, job: JobSpec) -> Row:
    litres = None
    if of_site.occupancy is not None and of_site.litres is not None:
        litres = site.dwellings * (of_site.occupancy * of_site.litres)
    return {
        "RLB_ID": site.number,
        "id": site.id,
        "Name": site.name,
        "Dwel_Cat": site.category,
        "Source": site.source,
        "Dwellings": site.dwellings,
        "Dev_Area_Ha": site.hectares,
        "AreaInNNCatchment": _hectares(fact, site, job.mode),
        "NN_Catchment": joined(fact),
        "Dev_SubCatchment": fact.subcatchment.name,
        "Majority_LPA": fact.authority.name or job.edition.unknown_lpa,
        "Majority_WwTw_ID": int(works.code) if works.code.isdecimal() else works.code,
        "WwTW_name": works.name,
        "WwTw_SubCatchment": works.subcatchment or (fact.subcatchment.name if works.is_package else None),
        **_nutrients(site.dwellings, fact.land, litres, works, job),
        "Occ_Rate": of_site.occupancy,
        "Water_Usage_L_Day": of_site.litres,
        "Litres_used": litres,
        **dict(zip(CONCENTRATIONS, works.concentrations, strict=True)),
        "catchments": {name: round(area / HECTARE, 4) for name, area in sorted(fact.land.catchments.items())},
        "warnings": [*of_facts(fact, job.edition), *of_site.warnings, *works.warnings],
    }


def _nutrients(dwellings: int, land: LandUse, litres: float | None, works: Treatment, job: JobSpec) -> Row:
    """The columns that come in pairs, one for each nutrient."""
    row: Row = {}
    exact, edition = job.mode == "compatible", job.edition
    n_temp, n_perm, p_temp, p_perm = works.concentrations
    pairs = (("N", land.nitrogen, n_temp, n_perm), ("P", land.phosphorus, p_temp, p_perm))
    for letter, uplift, temporary, permanent in pairs:
        after = suds(uplift, dwellings, edition)
        at_end = wastewater.load(litres, permanent, edition)
        row[f"{letter}_LU_Uplift"] = uplift if exact else rounded(uplift)
        row[f"{letter}_LU_postSuDS"] = rounded(after)
        row[f"{letter}_WwTW_Temp"] = rounded(wastewater.load(litres, temporary, edition))
        row[f"{letter}_WwTW_Perm"] = rounded(at_end)
        row[f"{letter}_Total"] = rounded(total(rounded(after) if exact else after, at_end, edition))
    return row


def suds(uplift: float | None, dwellings: int, edition: Edition) -> float | None:
    """Step 6: drainage takes its share off what is added, and off what is gained."""
    return None if uplift is None else uplift - abs(uplift) * edition.suds.reduction_for(dwellings)


def total(after_suds: float | None, permanent: float | None, edition: Edition) -> float:
    """Step 10: the balance and a precaution on top; null counts as 0."""
    balance = (after_suds or 0.0) + (permanent or 0.0)
    return balance + edition.precaution * abs(balance)


def rounded(value: float | None) -> float | None:
    """Two decimals, half to even, and never minus zero; as numpy rounds, to which results are compared."""
    return None if value is None else round(value * 100) / 100 + 0.0


def _hectares(fact: Facts, site: Site, mode: Mode) -> float | None:
    """AreaInNNCatchment. Where ground is counted once, noise alone could make it more than the site."""
    if fact.land.area is None:
        return None
    return rounded((fact.land.area if mode == "compatible" else min(fact.land.area, site.area)) / HECTARE)
