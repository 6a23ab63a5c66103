"""A whole newt assessment. The sites share one buffer, so it is a single chunk."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assessment import rules
from assessment.bundle.bundle import Bundle
from assessment.gcn import impact, zones
from assessment.gcn.ground import ground
from assessment.gcn.impact import Habitat
from assessment.gcn.ponds import Ponds, national, sorted_by_area
from assessment.results import Kind, Results, Table
from assessment.sites import Sites
from assessment.spec import JobSpec
from switchyard.errors import BadInput

HABITAT: Mapping[str, Kind] = {
    "Area": "text",
    "RZ": "text",
    "Shape_Area": "real",
    "RLB_ID": "integer",
    "id": "text",
    "Name": "text",
    "warnings": "list",
}
PONDS: Mapping[str, Kind] = {
    "PANS": "text",
    "Area": "text",
    "MaxZone": "text",
    "TmpImp": "text",
    "FREQUENCY": "integer",
}


def assess_gcn(
    job: JobSpec,
    sites: Sites,
    bundle: Bundle,
    *,
    survey: Ponds | None,
    origin: Mapping[str, Any],
    progress: Callable[[float, str], None],
) -> Results:
    progress(0.0, "sites and their surroundings")
    rule = rules.of(job.mode)
    place = ground(sites.geometry, rule.SEGMENTS)
    progress(0.2, "risk zones")
    found_zones = zones.clipped(bundle.layer("gcn_risk_zones"), place.buffer)
    progress(0.4, "ponds")
    if survey is None and not bundle.has("gcn_ponds"):
        raise BadInput(f"no survey of ponds was given, and bundle {bundle.version} has no layer gcn_ponds")
    ponds = sorted_by_area(survey or national(bundle.layer("gcn_ponds"), place.buffer), place, rule)
    progress(0.6, "habitat")
    found = impact.habitat(place, found_zones, ponds, rule)
    progress(0.9, "pond frequency")
    worst = impact.gravest(ponds, found_zones)
    counted = impact.frequency(ponds, worst)
    progress(1.0, "done")
    shapes = {"buffer": place.buffer, **found_zones}
    drawn = {name: np.array([shape], dtype=object) for name, shape in shapes.items()}
    results = _results(sites, found, counted, [*sites.remarks, *_warnings(survey, ponds, worst)], origin)
    return replace(results, shapes={**drawn, "ponds": ponds.geometry})


def _warnings(survey: Ponds | None, ponds: Ponds, worst: Sequence[str | None]) -> list[str]:
    said = []
    if survey is None:
        said.append("no survey: ponds of the national layer, all counted as not surveyed")
    if not len(ponds.geometry):
        said.append("no pond within 250 m of the sites")
    outside = sum(zone is None for zone in worst)
    if outside:
        said.append(f"{outside} ponds are in no risk zone and are not counted")
    return said


def _results(
    sites: Sites,
    found: list[Habitat],
    counted: list[dict[str, Any]],
    said: list[str],
    origin: Mapping[str, Any],
) -> Results:
    shapes = np.empty(len(found), dtype=object)
    shapes[:] = [part.ground for part in found]
    habitat = [{**row, "warnings": [*row["warnings"], *said]} for row in impact.habitat_rows(sites, found)]
    summary = {
        "habitat": [{k: row[k] for k in ("RLB_ID", "Area", "RZ", "Shape_Area")} for row in habitat],
        "ponds": counted,
        "sites": len(sites),
        "warnings": len(said),
    }
    tables = {"habitat": Table(HABITAT, habitat, shapes), "ponds": Table(PONDS, counted)}
    return Results("gcn", tables, summary, dict(origin), said)
