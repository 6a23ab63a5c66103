"""Warnings about how a row was computed."""

from assessment.editions import Edition
from assessment.nutrient.facts import Facts
from assessment.nutrient.landuse import HECTARE

WORTH_SAYING = 1.0
"""Square metres without a parcel or a coefficient that are worth a warning."""


def of_facts(fact: Facts, edition: Edition) -> list[str]:
    """Weak majorities, missing works, ground without parcels."""
    said = []
    if fact.works.name is None:
        said.append("in no works' catchment: package treatment plant assumed")
    majorities = (("works", fact.works), ("authority", fact.authority), ("subcatchment", fact.subcatchment))
    for kind, majority in majorities:
        if majority.name is not None and majority.share < edition.majority:
            said.append(f"{kind} {majority.name} covers only {percent(majority.share)} of the site")
    if fact.land.without_parcel > WORTH_SAYING:
        said.append(
            f"{hectares(fact.land.without_parcel)} ha in a nutrient catchment have no land-use parcel"
        )
    if fact.land.without_coefficient > WORTH_SAYING:
        said.append(f"{hectares(fact.land.without_coefficient)} ha of land-use parcels have no coefficient")
    return said


def percent(share: float) -> str:
    """With as many digits as a small share needs."""
    return f"{share:.0%}" if share >= 0.1 else f"{share * 100:.2g} %"


def hectares(square_metres: float) -> str:
    return f"{square_metres / HECTARE:.2g}"
