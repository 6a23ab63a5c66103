"""Turn facts, rates and works into the rows of the result (steps 6 to 11): cheap, for the whole batch."""

from collections.abc import Sequence
from typing import Any

from assessment import rules
from assessment.bundle.lookups import CONCENTRATIONS, Lookups
from assessment.editions import Edition
from assessment.nutrient import wastewater
from assessment.nutrient.facts import Facts
from assessment.nutrient.landuse import HECTARE, LandUse
from assessment.nutrient.rates import SiteRates
from assessment.nutrient.repeats import shared_ground
from assessment.nutrient.rounding import rounded
from assessment.nutrient.warn import of_facts
from assessment.nutrient.wastewater import Treatment
from assessment.rules import Rules
from assessment.sites import Site, Sites
from assessment.spec import JobSpec

Row = dict[str, Any]


def rows(sites: Sites, facts: Sequence[Facts], lookups: Lookups, job: JobSpec) -> list[Row]:
    """One row per site in scope, in input order."""
    return [row for row in every(sites, facts, lookups, job) if in_scope(row, job.edition)]


def every(sites: Sites, facts: Sequence[Facts], lookups: Lookups, job: JobSpec) -> list[Row]:
    """One row per site. `catchments` is not part of the result: it has the area in hectares by catchment."""
    codes = [fact.works.name or job.edition.package_plant.code for fact in facts]
    rule = rules.of(job.mode)
    rates_of = rule.rates(sites, facts, codes, lookups, job.edition)
    made = [
        _row(
            site,
            fact,
            of_site,
            rule.treatment(code, lookups.works, job.edition.package_plant),
            rule,
            job.edition,
        )
        for site, fact, of_site, code in zip(sites.each(), facts, rates_of, codes, strict=True)
    ]
    for k, said in enumerate(shared_ground(sites)):
        made[k]["warnings"] = [*sites.notes_of(k), *said, *made[k]["warnings"]]
    return made


def in_scope(row: Row, edition: Edition) -> bool:
    """Step 11: a site outside all catchments needs a works; editions differ on the package plant."""
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


def _row(site: Site, fact: Facts, of_site: SiteRates, works: Treatment, rule: Rules, edition: Edition) -> Row:
    area, litres = fact.land.area, None
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
        "AreaInNNCatchment": None if area is None else rounded(rule.covered(area, site) / HECTARE),
        "NN_Catchment": fact.land.joined,
        "Dev_SubCatchment": fact.subcatchment.name,
        "Majority_LPA": fact.authority.name or edition.unknown_lpa,
        "Majority_WwTw_ID": int(works.code) if works.code.isdecimal() else works.code,
        "WwTW_name": works.name,
        "WwTw_SubCatchment": works.subcatchment or (fact.subcatchment.name if works.is_package else None),
        **_nutrients(site.dwellings, fact.land, litres, works, rule, edition),
        "Occ_Rate": of_site.occupancy,
        "Water_Usage_L_Day": of_site.litres,
        "Litres_used": litres,
        **dict(zip(CONCENTRATIONS, works.concentrations, strict=True)),
        "catchments": {name: round(area / HECTARE, 4) for name, area in sorted(fact.land.catchments.items())},
        "warnings": [*of_facts(fact, edition), *of_site.warnings, *works.warnings],
    }


def _nutrients(
    dwellings: int, land: LandUse, litres: float | None, works: Treatment, rule: Rules, edition: Edition
) -> Row:
    """The columns that occur once per nutrient."""
    row: Row = {}
    n_temp, n_perm, p_temp, p_perm = works.concentrations
    pairs = (("N", land.nitrogen, n_temp, n_perm), ("P", land.phosphorus, p_temp, p_perm))
    for letter, uplift, temporary, permanent in pairs:
        after = suds(uplift, dwellings, edition)
        at_end = wastewater.load(litres, permanent, edition)
        row[f"{letter}_LU_Uplift"] = rule.shown_uplift(uplift)
        row[f"{letter}_LU_postSuDS"] = rounded(after)
        row[f"{letter}_WwTW_Temp"] = rounded(wastewater.load(litres, temporary, edition))
        row[f"{letter}_WwTW_Perm"] = rounded(at_end)
        row[f"{letter}_Total"] = rounded(total(rule.counted(after), at_end, edition))
    return row


def suds(uplift: float | None, dwellings: int, edition: Edition) -> float | None:
    """Step 6: drainage lowers the uplift by a share of its size, also if it is negative."""
    return None if uplift is None else uplift - abs(uplift) * edition.suds.reduction_for(dwellings)


def total(after_suds: float | None, permanent: float | None, edition: Edition) -> float:
    """Step 10: the balance plus a precautionary share; null counts as 0."""
    balance = (after_suds or 0.0) + (permanent or 0.0)
    return balance + edition.precaution * abs(balance)
