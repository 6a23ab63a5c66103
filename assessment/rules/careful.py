"""The default mode: ground counts once, a result depends on its own site alone, nothing is silent."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import shapely

from assessment import row_warnings as words
from assessment.arrays import SLIVER, Bools, Geometries
from assessment.bundle.layer import Layer
from assessment.bundle.lookups import Lookups, Works
from assessment.editions import Edition, Greenspace, PackagePlant
from assessment.nutrient import landuse, majority, regions
from assessment.nutrient import rates as site_rates
from assessment.nutrient.facts import Facts
from assessment.nutrient.landuse import LandUse
from assessment.nutrient.majority import Majority
from assessment.nutrient.rates import SiteRates
from assessment.nutrient.rounding import rounded
from assessment.nutrient.wastewater import Treatment, package_plant
from assessment.sites import Site, Sites

if TYPE_CHECKING:
    from assessment.gcn.ground import Ground

SEGMENTS = 64  # lose a hundredth of a per cent of a circle's area


def majorities(sites: Sites, layer: Layer, column: str) -> list[Majority]:
    """Features of one name count together."""
    return majority.majorities(sites.geometry, sites.area, layer, column, by_name=True)


def land(sites: Sites, catchments: Layer, parcels: Layer, greenspace: Greenspace) -> dict[int, LandUse]:
    """Overlaps count once, and nothing is rounded yet."""
    split = regions.by_name(sites.geometry, sites.area, catchments)
    return landuse.once(split, sites.hectares, parcels, greenspace)


def rates(
    sites: Sites, facts: Sequence[Facts], _codes: Sequence[str], lookups: Lookups, edition: Edition
) -> list[SiteRates]:
    """Of each site by itself."""
    return [
        site_rates.of_site(category, fact.land.catchments, lookups.rates, edition.standard_rates)
        for category, fact in zip(sites.category, facts, strict=True)
    ]


def treatment(code: str, table: Mapping[str, Works], plant: PackagePlant) -> Treatment:
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


def covered(area: float, site: Site) -> float:
    """Where ground counts once, noise alone could make it more than the site."""
    return min(area, site.area)


def shown_uplift(uplift: float | None) -> float | None:
    """Rounded once, at the end."""
    return rounded(uplift)


def counted(after_suds: float | None) -> float | None:
    """As it is."""
    return after_suds


def on_site(ponds: Geometries, site: shapely.Geometry) -> Bools:
    """Those with ground on it: a pond whose edge is the boundary lies in the surroundings."""
    shared: Bools = shapely.area(shapely.intersection(ponds, site)) > SLIVER
    return shared


def around(ground: "Ground") -> shapely.Geometry:
    """The ring, without the sites, as in the original."""
    return ground.ring
