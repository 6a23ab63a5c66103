"""Whether a job is still needed: checked before the work, so that a repeated delivery is cheap."""

from assessment.work.job import Job
from assessment.work.outcome import Done, Skipped
from switchyard.store import Store

END = "end.json"


def unwanted(job: Job, store: Store) -> Done | Skipped | None:
    """What it comes to without any work; None where it has to be done."""
    if store.size(f"{job.home}/{END}") is not None:
        return Skipped("its end was already reported")
    if cancelled(job, store):
        return Skipped("cancelled")
    output = f"{job.output}/output.json"
    return Done(output) if store.size(output) is not None else None


def cancelled(job: Job, store: Store) -> bool:
    return store.size(f"{job.home}/cancel") is not None
