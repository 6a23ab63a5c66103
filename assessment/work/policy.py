"""The definition of a workload: what to run, when to skip, what errors mean, and the next queue."""

from collections.abc import Callable
from dataclasses import dataclass

from assessment.work import wanted
from assessment.work.context import Context
from assessment.work.job import Job
from assessment.work.outcome import Done, Failed, Outcome, Refused, Skipped
from switchyard.errors import BadInput, ConfigError, StoreError, SwitchyardError
from switchyard.process.log import get_logger
from switchyard.store import Store

log = get_logger(__name__)


def failed(error: Exception) -> Outcome:
    """Bad input and permanent errors of the store are fatal; everything else is retried.

    Configuration errors, such as an unreadable bundle, do not count as attempts of the job.
    """
    if isinstance(error, MemoryError):
        return Failed("not enough memory for this job")
    if not isinstance(error, SwitchyardError):
        log.exception("the job failed unexpectedly")
        return Failed(f"unexpected {type(error).__name__}; see the worker's log")
    if isinstance(error, ConfigError):
        return Failed(str(error), counts=False)
    permanent = isinstance(error, BadInput) or (isinstance(error, StoreError) and not error.transient)
    return Refused(str(error)) if permanent else Failed(str(error))


def _weigh(_job: Job, _store: Store) -> tuple[str, float]:
    return "job", 1.0


def _nobody(_job: Job, _outcome: Done | Refused) -> str | None:
    return None


@dataclass(frozen=True)
class Workload:
    """A workload; only `run` is required, the others are policies with defaults."""

    run: Callable[[Job, Context], Outcome]
    kind: str = "assessment"
    service: str = "nrf-impact-assessment-worker"
    skip: Callable[[Job, Store], Done | Skipped | None] = wanted.unwanted
    failed: Callable[[Exception], Outcome] = failed
    weigh: Callable[[Job, Store], tuple[str, float]] = _weigh
    """The kind and size of a job, for estimating its duration."""
    hand_over: Callable[[Job, Done | Refused], str | None] = _nobody
    """The queue of the next step after this job ended, or None."""
