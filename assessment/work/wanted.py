"""Checks before the work whether a job is still needed, so that repeated deliveries are cheap."""

from assessment.work.job import Job
from assessment.work.outcome import Done, Skipped
from switchyard.store import Store

END = "end.json"


def unwanted(job: Job, store: Store) -> Done | Skipped | None:
    """The outcome of a job that needs no work; None if it has to be processed."""
    if store.size(f"{job.home}/{END}") is not None:
        return Skipped("its end was already reported")
    if cancelled(job, store):
        return Skipped("cancelled")
    output = f"{job.output}/output.json"
    return Done(output) if store.size(output) is not None else None


def cancelled(job: Job, store: Store) -> bool:
    return store.size(f"{job.home}/cancel") is not None
