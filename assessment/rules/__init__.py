"""The differences between the two modes: `careful` (the default mode) and `compatible`.

Each mode is a module with the same functions. Editions of the rules are data (`editions.toml`); a mode is
how they are applied.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from assessment.spec import Mode

if TYPE_CHECKING:
    import shapely

    from assessment.arrays import Bools, Geometries
    from assessment.bundle.layer import Layer
    from assessment.bundle.lookups import Lookups, Works
    from assessment.editions import Edition, Greenspace, PackagePlant
    from assessment.gcn.ground import Ground
    from assessment.nutrient.facts import Facts
    from assessment.nutrient.landuse import LandUse
    from assessment.nutrient.majority import Majority
    from assessment.nutrient.rates import SiteRates
    from assessment.nutrient.wastewater import Treatment
    from assessment.sites import Site, Sites


class Rules(Protocol):
    """The functions that `careful` and `compatible` provide."""

    SEGMENTS: int
    """Segments per quarter circle around sites and ponds."""

    def majorities(self, sites: "Sites", layer: "Layer", column: str) -> "list[Majority]":
        """The feature or name that covers most of each site (step 2)."""

    def land(
        self, sites: "Sites", catchments: "Layer", parcels: "Layer", greenspace: "Greenspace"
    ) -> "dict[int, LandUse]":
        """The change of land use by site (steps 3 to 5)."""

    def rates(
        self,
        sites: "Sites",
        facts: "Sequence[Facts]",
        codes: Sequence[str],
        lookups: "Lookups",
        edition: "Edition",
    ) -> "list[SiteRates]":
        """Occupancy and water use of each site (step 7)."""

    def treatment(self, code: str, table: "Mapping[str, Works]", plant: "PackagePlant") -> "Treatment":
        """The works that a site drains to (step 9)."""

    def covered(self, area: float, site: "Site") -> float:
        """The area in catchments, in square metres, as shown in the result (step 5)."""

    def shown_uplift(self, uplift: float | None) -> float | None:
        """The uplift as shown in the result (step 5)."""

    def counted(self, after_suds: float | None) -> float | None:
        """The part of the uplift after drainage that goes into the total (step 10)."""

    def on_site(self, ponds: "Geometries", site: "shapely.Geometry") -> "Bools":
        """Whether each pond belongs to the site; other ponds nearby belong to its surroundings."""

    def around(self, ground: "Ground") -> "shapely.Geometry":
        """The surroundings in which newts' habitat counts."""


def of(mode: Mode) -> Rules:
    """The rules of a mode."""
    if mode == "compatible":
        from assessment.rules import compatible  # noqa: PLC0415 - avoids an import cycle

        return compatible
    from assessment.rules import careful  # noqa: PLC0415

    return careful


__all__ = ["Rules", "of"]
