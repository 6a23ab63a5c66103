"""Warnings about how a row was computed."""

from assessment import row_warnings as words
from assessment.editions import Edition
from assessment.nutrient.facts import Facts
from assessment.nutrient.landuse import HECTARE

WORTH_SAYING = 1.0
"""Square metres without a parcel or a coefficient from which a warning is given."""


def of_facts(fact: Facts, edition: Edition) -> list[str]:
    """Warnings about weak majorities, missing works, and ground without parcels."""
    said = []
    if fact.works.name is None:
        said.append(words.NO_WORKS())
    for weak, majority in (
        (words.WEAK_WORKS, fact.works),
        (words.WEAK_AUTHORITY, fact.authority),
        (words.WEAK_SUBCATCHMENT, fact.subcatchment),
    ):
        if majority.name is not None and majority.share < edition.majority:
            said.append(weak(name=majority.name, share=percent(majority.share)))
    for missing, area in (
        (words.NO_PARCEL, fact.land.without_parcel),
        (words.NO_COEFFICIENT, fact.land.without_coefficient),
    ):
        if area > WORTH_SAYING:
            said.append(missing(ground=ground(area)))
    return said


def percent(share: float) -> str:
    """A percentage with as many digits as small shares need; a share under a half is never shown as 50 %."""
    if share < 0.0001:
        return "less than 0.01 %"
    if share < 0.5 <= round(share, 3):
        return "just under 50 %"  # a half would be a majority
    return f"{share * 100:.3g} %" if share >= 0.1 else f"{share * 100:.2g} %"


def ground(square_metres: float) -> str:
    """An area with two digits and without an exponent: small areas are in square metres."""
    if square_metres < 1:
        return "less than 1 m²"
    size, unit = (square_metres, "m²") if square_metres < 100 else (square_metres / HECTARE, "ha")
    return f"{float(f'{size:.2g}'):,g} {unit}"
