"""The nutrients that the homes' wastewater adds (steps 8 and 9)."""

from collections.abc import Mapping
from dataclasses import dataclass

from assessment.bundle.lookups import Works
from assessment.editions import Edition, PackagePlant

MG_PER_KG = 1_000_000


@dataclass(frozen=True)
class Treatment:
    """The works that a site drains to, as its row shows it."""

    code: str
    name: str | None
    subcatchment: str | None
    concentrations: tuple[float | None, float | None, float | None, float | None]
    is_package: bool = False
    warnings: tuple[str, ...] = ()


def package_plant(plant: PackagePlant, table: Mapping[str, Works]) -> Works:
    """The default plant from the lookup, or else from the edition."""
    n, p = plant.nitrogen, plant.phosphorus
    return table.get(plant.code) or Works(plant.code, plant.name, None, (n, n, p, p))


def load(litres: float | None, concentration: float | None, edition: Edition) -> float | None:
    """The load in kg/yr. For unknown litres or concentrations, the edition decides between null and 0."""
    if litres is None and edition.null_load.without_rates:
        return None
    if concentration is None and edition.null_load.without_concentration:
        return None
    return (litres or 0.0) * edition.days * ((concentration or 0.0) / MG_PER_KG) * edition.permit_factor
