"""All warnings about rows: their texts, and the headings that a report groups them under."""

import re
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Warned:
    """A warning; calling it with the values of the fields in `text` returns the text for one row."""

    heading: str
    text: str

    def __call__(self, **values: object) -> str:
        return self.text.format(**values)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        fixed = [re.escape(part) for part in re.split(r"\{\w+\}", self.text)]
        return re.compile(".*".join(fixed), re.DOTALL)


REPAIRED = Warned(
    "The boundary was repaired",
    "the boundary was invalid ({defect}) and was repaired: {before} ha became {after} ha",
)
CONVERTED = Warned(
    "The boundary was converted from another coordinate system",
    "converted from {system} to the National Grid: it may be off by up to {metres} m",
)
SAME_BOUNDARY = Warned(
    "The same boundary occurs twice", "has the same boundary as site {site}: counted in the total of both"
)
OVERLAPS = Warned("Sites overlap", "overlaps {sites} ({ground}): that ground is counted more than once")
SAME_ID = Warned("The same id occurs twice", "has the same id as {sites}")
NO_WORKS = Warned("In no works' catchment", "in no works' catchment: package treatment plant assumed")
WEAK_WORKS = Warned(
    "The works serves less than half of the site", "works {name} covers only {share} of the site"
)
WEAK_AUTHORITY = Warned(
    "The authority holds less than half of the site", "authority {name} covers only {share} of the site"
)
WEAK_SUBCATCHMENT = Warned(
    "The subcatchment holds less than half of the site", "subcatchment {name} covers only {share} of the site"
)
NO_PARCEL = Warned(
    "Ground without a land-use parcel", "{ground} in a nutrient catchment have no land-use parcel"
)
NO_COEFFICIENT = Warned("Ground without a coefficient", "{ground} of land-use parcels have no coefficient")
STANDARD_RATES = Warned(
    "In no nutrient catchment", "in no nutrient catchment: standard occupancy and water use"
)
UNKNOWN_RATES = Warned("The catchment has no rates", "no rates for {name}: standard occupancy and water use")
SEVERAL_CATCHMENTS = Warned(
    "In several nutrient catchments",
    "in several nutrient catchments: occupancy and water use weighted by area",
)
NO_RATES = Warned("No occupancy and water use", "no occupancy and water use: no wastewater counted")
MEAN_RATES = Warned(
    "Rates of other sites", "occupancy and water use are the mean of the batch's sites with the same works"
)
UNKNOWN_WORKS = Warned("The works is not in the lookup", "works {code} is not in the lookup: {taken}")
NO_CONCENTRATION = Warned(
    "The works has no concentration", "works {code} has no {nutrient} concentration: counted as 0"
)

ALL = tuple(value for value in list(globals().values()) if isinstance(value, Warned))


def heading_of(warning: str) -> str | None:
    return next((kind.heading for kind in ALL if kind.pattern.fullmatch(warning)), None)
