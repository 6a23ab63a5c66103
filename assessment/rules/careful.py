"""The default mode: ground counts once, results depend only on their own site, nothing is silent."""

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

SEGMENTS = 64  # the error is a hundredth of a per cent of a circle's area


def majorities(sites: Sites, layer: Layer, column: str) -> list[Majority]:
    """Features with the same name are added up."""
    return majority.majorities(sites.geometry, sites.area, layer, column, by_name=True)


def land(sites: Sites, catchments: Layer, parcels: Layer, greenspace: Greenspace) -> dict[int, LandUse]:
    """Overlaps count once, and nothing is rounded yet."""
    split = regions.by_name(sites.geometry, sites.area, catchments)
    return landuse.once(split, sites.hectares, parcels, greenspace)


def rates(
    sites: Sites, facts: Sequence[Facts], _codes: Sequence[str], lookups: Lookups, edition: Edition
) -> list[SiteRates]:
    """Rates of each site, independent of other sites."""
    return [
        site_rates.of_site(category, fact.land.catchments, lookups.rates, edition.standard_rates)
        for category, fact in zip(sites.category, facts, strict=True)
    ]


def treatment(code: str, table: Mapping[str, Works], plant: PackagePlant) -> Treatment:
    """Treat a code missing in the lookup as a package plant, with a warning; missing numbers also warn."""
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
    """Limit the area to the site's: ground counts once, so only numerical noise can exceed it."""
    return min(area, site.area)


def shown_uplift(uplift: float | None) -> float | None:
    """The uplift, rounded once, at the end."""
    return rounded(uplift)


def counted(after_suds: float | None) -> float | None:
    """The unrounded value."""
    return after_suds


def on_site(ponds: Geometries, site: shapely.Geometry) -> Bools:
    """Ponds that overlap the site; a pond that only shares its boundary belongs to the surroundings."""
    shared: Bools = shapely.area(shapely.intersection(ponds, site)) > SLIVER
    return shared


def around(ground: "Ground") -> shapely.Geometry:
    """The ring, without the sites, as in the original."""
    return ground.ring
