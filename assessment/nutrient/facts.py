"""The data that the layers have for each site: the expensive part, computed and stored chunk by chunk."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from assessment import rules
from assessment.bundle.bundle import Bundle
from assessment.nutrient.landuse import LandUse
from assessment.nutrient.majority import Majority
from assessment.sites import Sites
from assessment.spec import JobSpec

Step = Callable[[str], None]

STEPS = 4
"""Number of times that `gather` calls `step`."""


@dataclass(frozen=True)
class Facts:
    """The facts about one site."""

    works: Majority
    authority: Majority
    subcatchment: Majority
    land: LandUse

    def as_data(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Facts":
        return cls(
            works=Majority(**data["works"]),
            authority=Majority(**data["authority"]),
            subcatchment=Majority(**data["subcatchment"]),
            land=LandUse(**data["land"]),
        )


def gather(sites: Sites, bundle: Bundle, job: JobSpec, step: Step) -> list[Facts]:
    """The facts of every site, in order. Each depends only on its own site."""
    rule, found = rules.of(job.mode), {}
    for name, column in (
        ("wwtw_catchments", "WwTw_ID"),
        ("lpa_boundaries", "NAME"),
        ("subcatchments", "OPCAT_NAME"),
    ):
        step(f"majority of {name}")
        found[name] = rule.majorities(sites, bundle.layer(name), column)
    step("land use")
    catchments, parcels = bundle.layer("nn_catchments"), bundle.layer("coefficient_layer")
    land = rule.land(sites, catchments, parcels, job.edition.greenspace)
    return [
        Facts(
            works=found["wwtw_catchments"][k],
            authority=found["lpa_boundaries"][k],
            subcatchment=found["subcatchments"][k],
            land=land.get(k, LandUse()),
        )
        for k in range(len(sites))
    ]
