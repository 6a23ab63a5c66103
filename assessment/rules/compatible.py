"""The compatible mode: computes what the published implementation computes, with its known errors."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import shapely

from assessment import row_warnings as words
from assessment.arrays import Bools, Geometries
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
from assessment.nutrient.wastewater import Treatment
from assessment.sites import Site, Sites

if TYPE_CHECKING:
    from assessment.gcn.ground import Ground

SEGMENTS = 16  # the error is 0.16 % of a circle's area


def majorities(sites: Sites, layer: Layer, column: str) -> list[Majority]:
    """The single largest feature decides."""
    return majority.majorities(sites.geometry, sites.area, layer, column, by_name=False)


def land(sites: Sites, catchments: Layer, parcels: Layer, greenspace: Greenspace) -> dict[int, LandUse]:
    """Each parcel in each catchment feature separately: rounded, then added."""
    split = regions.by_feature(sites.geometry, sites.area, catchments)
    return landuse.compatible(split, sites.hectares, parcels, greenspace)


def rates(
    _sites: Sites, facts: Sequence[Facts], codes: Sequence[str], lookups: Lookups, _edition: Edition
) -> list[SiteRates]:
    """Rates by the joined name of the catchments; without a row, the mean of the batch."""
    return site_rates.of_batch([fact.land.joined for fact in facts], codes, lookups.rates)


def treatment(code: str, table: Mapping[str, Works], plant: PackagePlant) -> Treatment:
    """The lookup's row; a code that is not in the lookup gives no name and no concentrations."""
    works = table.get(code)
    if works is None:
        warning = words.UNKNOWN_WORKS(code=code, taken="no wastewater counted")
        return Treatment(code, None, None, (None,) * 4, code == plant.code, (warning,))
    return Treatment(code, works.name, works.subcatchment, works.concentrations, code == plant.code)


def covered(area: float, _site: Site) -> float:
    """The area including overlaps, each of which counts several times."""
    return area


def shown_uplift(uplift: float | None) -> float | None:
    """The sum of rounded uplifts, unchanged."""
    return uplift


def counted(after_suds: float | None) -> float | None:
    """The uplift, rounded before it is added."""
    return rounded(after_suds)


def on_site(ponds: Geometries, site: shapely.Geometry) -> Bools:
    """Ponds that touch the site; a pond that only touches it has no area on it that could count."""
    touching: Bools = shapely.intersects(site, ponds)
    return touching


def around(ground: "Ground") -> shapely.Geometry:
    """The whole buffer: the sites are counted twice."""
    return ground.buffer
