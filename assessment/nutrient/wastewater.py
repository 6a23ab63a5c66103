"""What the homes' wastewater adds (steps 8 and 9)."""

from collections.abc import Mapping
from dataclasses import dataclass

from assessment import row_warnings as words
from assessment.bundle.lookups import Works
from assessment.editions import Edition, PackagePlant

MG_PER_KG = 1_000_000


@dataclass(frozen=True)
class Treatment:
    """The works a site drains to, as its row shows it."""

    code: str
    name: str | None
    subcatchment: str | None
    concentrations: tuple[float | None, float | None, float | None, float | None]
    is_package: bool = False
    warnings: tuple[str, ...] = ()


def package_plant(plant: PackagePlant, table: Mapping[str, Works]) -> Works:
    """The default plant as the lookup has it, else as the edition has it."""
    n, p = plant.nitrogen, plant.phosphorus
    return table.get(plant.code) or Works(plant.code, plant.name, None, (n, n, p, p))


def compatible(code: str, table: Mapping[str, Works], plant: PackagePlant) -> Treatment:
    """The lookup's row or nothing: a code that it lacks gives no name and no concentrations."""
    works = table.get(code)
    if works is None:
        warning = words.UNKNOWN_WORKS(code=code, taken="no wastewater counted")
        return Treatment(code, None, None, (None,) * 4, code == plant.code, (warning,))
    return Treatment(code, works.name, works.subcatchment, works.concentrations, code == plant.code)


def careful(code: str, table: Mapping[str, Works], plant: PackagePlant) -> Treatment:
    """A code that the lookup lacks is taken as a package plant, with a warning; so are missing numbers."""
    works, warnings = table.get(code), []
    is_package = works is None or code == plant.code
    if works is None:
        works = package_plant(plant, table)
        if code != plant.code:
            warnings.append(words.UNKNOWN_WORKS(code=code, taken="package treatment plant assumed"))
    for nutrient, pair in (("nitrogen", works.concentrations[:2]), ("phosphorus", works.concentrations[2:])):
        if None in pair:
            warnings.append(words.NO_CONCENTRATION(code=code, nutrient=nutrient))
    return Treatment(code, works.name, works.subcatchment, works.concentrations, is_package, tuple(warnings))


def load(litres: float | None, concentration: float | None, edition: Edition) -> float | None:
    """kg/yr. Where the litres or the concentration are unknown, the edition says whether it is null or 0."""
    if litres is None and edition.null_load.without_rates:
        return None
    if concentration is None and edition.null_load.without_concentration:
        return None
    return (litres or 0.0) * edition.days * ((concentration or 0.0) / MG_PER_KG) * edition.permit_factor
