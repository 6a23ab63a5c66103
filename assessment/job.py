"""One assessment from files to files: read, assess, report, deliver. Called by the command and the worker."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assessment.bundle.bundle import Bundle
from assessment.chunks import Chunks
from assessment.compute import compute
from assessment.intake.reader import Reader
from assessment.intake.upload import gcn_sites, nutrient_sites, survey
from assessment.output.deliver import deliver
from assessment.progress import Progress, silent
from assessment.provenance import hash_of
from assessment.results import Results
from assessment.sites import Sites
from assessment.spec import JobSpec
from switchyard.store import Store


@dataclass(frozen=True)
class Inputs:
    """Local files: the sites and, for newts, a survey of ponds."""

    sites: Path
    ponds: Path | None = None
    layer: str | None = None
    """The layer of the file with the sites, if it has several."""


@dataclass(frozen=True)
class Target:
    """Where results are written, and in which formats."""

    store: Store
    prefix: str
    formats: Sequence[str] = ("csv",)
    report: bool = True


@dataclass(frozen=True)
class Done:
    results: Results
    files: dict[str, str]
    """By name, the key in the store; includes output.json."""


def read_sites(job: JobSpec, inputs: Inputs, reader: Reader | None = None) -> Sites:
    read = nutrient_sites if job.assessment == "nutrient" else gcn_sites
    return read(inputs.sites, inputs.layer, reader)


def carry_out(
    job: JobSpec,
    inputs: Inputs,
    bundle: Bundle,
    target: Target,
    *,
    progress: Progress = silent,
    chunks: Chunks | None = None,
    reader: Reader | None = None,
) -> Done:
    """Carry out a job. `progress` is called with 0 to 1 and may raise to stop; stored `chunks` are reused.

    `reader`: reads the inputs; by default the shared reader of this process.
    """
    progress(0.0, "reading the sites")
    sites = read_sites(job, inputs, reader)
    hashes = {"sites": hash_of(inputs.sites)}
    ponds = None
    if inputs.ponds is not None:
        ponds, hashes["ponds"] = survey(inputs.ponds, reader=reader), hash_of(inputs.ponds)
    results = compute(
        job,
        sites,
        bundle,
        ponds=ponds,
        inputs=hashes,
        progress=lambda done, step: progress(0.05 + 0.85 * done, step),
        chunks=chunks,
    )
    progress(0.9, "writing the results")
    report = _report(results, sites, bundle, job) if target.report else None
    files = deliver(results, target.store, target.prefix, target.formats, report)
    progress(1.0, "done")
    return Done(results, files)


def _report(results: Results, sites: Sites, bundle: Bundle, job: JobSpec) -> str:
    from assessment.report.page import page  # noqa: PLC0415 - templates are only needed for reports

    return page(results, sites, bundle, job.edition)
