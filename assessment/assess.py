"""The whole assessment as one call: sites in, results out, chunk by chunk, with progress reports.

`assess` uses only the arrays it is given, the bundle, and the chunks. It may be stopped anywhere:
`progress` is called between steps, and an exception that it raises ends the call; finished chunks are
saved, and the next call computes only what is left.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from assessment import chunks as interim
from assessment.bundle.bundle import Bundle
from assessment.chunks import Chunks
from assessment.nutrient import facts, rows
from assessment.nutrient.columns import COLUMNS
from assessment.nutrient.facts import Facts
from assessment.progress import Progress, silent
from assessment.provenance import provenance
from assessment.results import Results, Table
from assessment.sites import Sites
from assessment.spec import JobSpec

if TYPE_CHECKING:
    from assessment.gcn.ponds import Ponds

FACTS_SHARE = 0.95
"""How much of a nutrient assessment the facts take; the rest is arithmetic."""


def assess(
    job: JobSpec,
    sites: Sites,
    bundle: Bundle,
    *,
    ponds: "Ponds | None" = None,
    inputs: Mapping[str, str] | None = None,
    progress: Progress = silent,
    chunks: Chunks | None = None,
) -> Results:
    """`ponds`: a survey, for newts. `inputs`: hashes of the files, for the record."""
    bundle.require(job.assessment)
    origin = provenance(job, bundle, inputs or {})
    if job.assessment == "gcn":
        from assessment.gcn.assess import assess_gcn  # noqa: PLC0415 - nutrient assessments need none of it

        return assess_gcn(job, sites, bundle, survey=ponds, origin=origin, progress=progress)
    found = gather(job, sites, bundle, progress, chunks)
    progress(FACTS_SHARE, "loads and totals")
    made = rows.rows(sites, found, bundle.lookups, job)
    progress(1.0, "done")
    return _results(sites, made, origin)


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


def _results(sites: Sites, made: list[rows.Row], origin: Mapping[str, object]) -> Results:
    position = {number: k for k, number in enumerate(sites.number)}
    kept = np.array([position[row["RLB_ID"]] for row in made], dtype=np.int64)
    warned = sum(bool(row["warnings"]) for row in made)
    summary = {
        "sites": len(made),
        "sites_submitted": len(sites),
        "n_total": round(sum(row["N_Total"] for row in made), 2),
        "p_total": round(sum(row["P_Total"] for row in made), 2),
        "warnings": sum(len(row["warnings"]) for row in made),
        "sites_with_warnings": warned,
    }
    left_out = len(sites) - len(made)
    said = [
        f"{left_out} of {len(sites)} sites are out of scope: in no nutrient catchment and without a works"
    ]
    return Results(
        "nutrient",
        {"nutrient": Table(COLUMNS, made, sites.geometry[kept])},
        summary,
        dict(origin),
        [*sites.remarks, *(said if left_out else [])],
    )
