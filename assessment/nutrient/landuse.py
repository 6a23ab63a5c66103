"""The nutrients added by the change of land use: site x coefficient parcel x catchment (steps 3 to 5).

The compatible mode counts each (parcel, catchment feature) separately and rounds before adding. The default
mode counts all ground once: catchments with the same name are united first, and so are several catchments;
where parcels overlap, the ground gets the mean of their coefficients, regardless of their order and of how
they are cut. It does not round here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import shapely

from assessment.arrays import Floats, Ints, distinct
from assessment.bundle.layer import Layer
from assessment.editions import Greenspace
from assessment.nutrient.faces import shared_ground
from assessment.nutrient.overlap import Overlaps, overlaps
from assessment.nutrient.regions import Region

HECTARE = 10_000
HUNDREDTHS = 100
"""Rounded uplifts are added as integer hundredths: binary fractions would decide ties by rounding noise."""


@dataclass(frozen=True)
class LandUse:
    """The land use of one site, in square metres and kg/yr. No area means that it is in no catchment."""

    area: float | None = None
    nitrogen: float | None = None
    phosphorus: float | None = None
    catchments: Mapping[str, float] = field(default_factory=dict)
    without_parcel: float = 0.0
    without_coefficient: float = 0.0

    @property
    def joined(self) -> str | None:
        """The names of the catchments, joined into one text."""
        return None if self.area is None else "; ".join(sorted(self.catchments))


def uplift_rates(
    layer: Layer, feature: Ints, hectares: Floats, greenspace: Greenspace
) -> tuple[Floats, Floats]:
    """The gain in kg/ha/yr on each row's land, given the size of the whole development."""
    share = np.where(hectares >= greenspace.from_hectares, greenspace.share, 0.0)
    change = []
    for nutrient, green in (("n", greenspace.nitrogen), ("p", greenspace.phosphorus)):
        homes = layer.numbers(f"{nutrient}_resi_coeff")[feature]
        current = layer.numbers(f"lu_curr_{nutrient}_coeff")[feature]
        change.append((1 - share) * homes + share * green - current)
    return change[0], change[1]


def compatible(
    regions: Sequence[Region], hectares: Floats, parcels: Layer, greenspace: Greenspace
) -> dict[int, LandUse]:
    """By site: rounded for each parcel in each catchment feature, then added, including overlaps."""
    found = _found(regions, parcels)
    key = found.query * (len(parcels) + 1) + parcels.feature[found.piece]
    rows, index = np.unique(key, return_inverse=True)
    region, feature = rows // (len(parcels) + 1), rows % (len(parcels) + 1)
    area = np.bincount(index, weights=found.area, minlength=len(rows)).astype(np.float64)
    hectares_of = area / HECTARE
    site = _sites(regions)[region]
    nitrogen, phosphorus = uplift_rates(parcels, feature, hectares[site], greenspace)
    return _by_site(
        regions,
        region,
        area=area,
        nitrogen=np.rint(nitrogen * hectares_of * HUNDREDTHS),
        phosphorus=np.rint(phosphorus * hectares_of * HUNDREDTHS),
        unit=HUNDREDTHS,
    )


def once(
    regions: Sequence[Region], hectares: Floats, parcels: Layer, greenspace: Greenspace
) -> dict[int, LandUse]:
    """By site: all ground counted once, nothing rounded."""
    found = _found(regions, parcels)
    site = _sites(regions)[found.query]
    nitrogen, phosphorus = uplift_rates(parcels, parcels.feature[found.piece], hectares[site], greenspace)
    area = found.area.copy()
    for region in distinct(found.query[parcels.overlaps[found.piece]]).tolist():
        rows = np.flatnonzero(found.query == region)
        area[rows] = shared_ground(regions[region].ground, parcels.polygons(found.piece[rows]))
    return _by_site(
        regions,
        found.query,
        area=area,
        nitrogen=nitrogen * area / HECTARE,
        phosphorus=phosphorus * area / HECTARE,
    )


def _found(regions: Sequence[Region], parcels: Layer) -> Overlaps:
    grounds = np.empty(len(regions), dtype=object)
    grounds[:] = [region.ground for region in regions]
    return overlaps(grounds, parcels)


def _sites(regions: Sequence[Region]) -> Ints:
    """The site of each region."""
    return np.array([region.site for region in regions], dtype=np.int64)


def _by_site(
    regions: Sequence[Region],
    region: Ints,
    *,
    area: Floats,
    nitrogen: Floats,
    phosphorus: Floats,
    unit: int = 1,
) -> dict[int, LandUse]:
    """Add up by site; if a site has a region over all its catchments, only that region counts.

    Uplifts are in kg/yr times `unit`.
    """
    sites, grounds = _sites(regions), shapely.area([r.ground for r in regions])
    united = {r.site for r in regions if r.united}
    totals = np.array([r.united or r.site not in united for r in regions], dtype=bool)
    counted = np.flatnonzero(totals[region]) if len(region) else region
    uncoded = np.isnan(nitrogen) | np.isnan(phosphorus)
    rows = {
        "area": area,
        "nitrogen": np.nan_to_num(nitrogen),
        "phosphorus": np.nan_to_num(phosphorus),
        "without_coefficient": np.where(uncoded, area, 0.0),
    }
    site, units = sites[region[counted]], {"nitrogen": unit, "phosphorus": unit}
    size = int(sites.max(initial=-1)) + 1
    sums = {
        k: np.bincount(site, weights=v[counted], minlength=size) / units.get(k, 1) for k, v in rows.items()
    }
    covered = np.bincount(region, weights=area, minlength=len(regions)).tolist()
    catchments = _catchments(regions, covered)
    extent = np.bincount(sites[totals], weights=grounds[totals], minlength=size)
    return {
        s: LandUse(
            **{k: float(v[s]) for k, v in sums.items()},
            catchments=catchments.get(s, {}),
            without_parcel=max(float(extent[s] - sums["area"][s]), 0.0),
        )
        for s in distinct(site).tolist()
    }


def _catchments(regions: Sequence[Region], covered: Sequence[float]) -> dict[int, dict[str, float]]:
    """By site: the area covered by parcels in each catchment, by name."""
    areas: dict[int, dict[str, float]] = {}
    for region, area in zip(regions, covered, strict=True):
        if region.catchment is not None and area > 0:
            names = areas.setdefault(region.site, {})
            names[region.catchment] = names.get(region.catchment, 0.0) + area
    return areas
