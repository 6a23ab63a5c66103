"""The whole assessment as one call: sites in, results out, chunk by chunk, with progress reports.

`compute` uses only the arrays it is given, the bundle, and the chunks. It can be stopped at any time:
`progress` is called between steps, and an exception that it raises ends the call. Finished chunks are
saved, and the next call computes only the remaining ones.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from assessment import chunks as interim
from assessment.bundle.bundle import Bundle
from assessment.chunks import Chunks
from assessment.editions import Edition
from assessment.nutrient import facts, rows
from assessment.nutrient.columns import COLUMNS, OUT_OF_SCOPE, typed
from assessment.nutrient.facts import Facts
from assessment.progress import Progress, silent
from assessment.provenance import provenance
from assessment.results import Results, Table
from assessment.sites import Sites
from assessment.spec import JobSpec

if TYPE_CHECKING:
    from assessment.gcn.ponds import Ponds

FACTS_SHARE = 0.95
"""The part of a nutrient assessment's progress that the facts take; the rest is arithmetic."""


def compute(
    job: JobSpec,
    sites: Sites,
    bundle: Bundle,
    *,
    ponds: "Ponds | None" = None,
    inputs: Mapping[str, str] | None = None,
    progress: Progress = silent,
    chunks: Chunks | None = None,
) -> Results:
    """Assess the sites. `ponds`: a survey, for newts. `inputs`: hashes of the input files, for the record."""
    bundle.require(job.assessment)
    origin = provenance(job, bundle, inputs or {})
    if job.assessment == "gcn":
        from assessment.gcn.assess import assess_gcn  # noqa: PLC0415 - nutrient assessments need none of it

        return assess_gcn(job, sites, bundle, survey=ponds, origin=origin, progress=progress)
    found = gather(job, sites, bundle, progress, chunks)
    progress(FACTS_SHARE, "loads and totals")
    made = rows.every(sites, found, bundle.lookups, job)
    progress(1.0, "done")
    return _results(sites, made, origin, job.edition)


def gather(
    job: JobSpec, sites: Sites, bundle: Bundle, progress: Progress, chunks: Chunks | None = None
) -> list[Facts]:
    """The facts of all sites; stored chunks are reused."""
    found: list[Facts] = []
    for start, stop in interim.parts(len(sites), job.chunk_size):
        part = sites.part(start, stop)
        name = interim.name_of(part, job, bundle) if chunks else ""
        done = interim.parse(chunks.load(name), len(part)) if chunks else None
        if done is None:
            done = _chunk(
                job, part, bundle, progress, before=start / len(sites), share=len(part) / len(sites)
            )
            if chunks:
                chunks.save(name, interim.dump(done))
        found += done
    return found


def _chunk(
    job: JobSpec, part: Sites, bundle: Bundle, progress: Progress, *, before: float, share: float
) -> list[Facts]:
    taken = 0

    def step(name: str) -> None:
        nonlocal taken
        where = f"sites {part.number[0]} to {part.number[-1]}"
        progress(FACTS_SHARE * (before + share * taken / facts.STEPS), f"{name}, {where}")
        taken += 1

    return facts.gather(part, bundle, job, step)


def _results(sites: Sites, made: list[rows.Row], origin: Mapping[str, object], edition: Edition) -> Results:
    inside = np.array([rows.in_scope(row, edition) for row in made], dtype=bool)
    kept = [row for row, within in zip(made, inside, strict=True) if within]
    left = [
        {**row, "Reason": rows.why_out(row, edition)}
        for row, within in zip(made, inside, strict=True)
        if not within
    ]
    tables = {"nutrient": Table(typed(COLUMNS, kept), kept, sites.geometry[inside])}
    if left:
        tables["out_of_scope"] = Table(typed(OUT_OF_SCOPE, left), left, sites.geometry[~inside])
    said = [f"{len(left)} of {len(sites)} sites are out of scope: see out_of_scope for the reason of each"]
    return Results(
        "nutrient", tables, _summary(kept, left), dict(origin), [*sites.remarks, *(said if left else [])]
    )


def _summary(kept: list[rows.Row], left: list[rows.Row]) -> dict[str, object]:
    return {
        "sites": len(kept),
        "sites_submitted": len(kept) + len(left),
        "n_total": round(sum(row["N_Total"] for row in kept), 2),
        "p_total": round(sum(row["P_Total"] for row in kept), 2),
        "warnings": sum(len(row["warnings"]) for row in kept),
        "sites_with_warnings": sum(bool(row["warnings"]) for row in kept),
        "out_of_scope": [{name: row[name] for name in ("RLB_ID", "id", "Name", "Reason")} for row in left],
    }
