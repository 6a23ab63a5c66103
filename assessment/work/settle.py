"""Make an outcome durable; the order of the steps makes a crash between them harmless."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from assessment.work.attempts import Attempts
from assessment.work.job import Job
from assessment.work.outcome import Done, Failed, HandedBack, Outcome, Refused, Skipped
from assessment.work.policy import Workload
from assessment.work.queue import WorkQueue
from assessment.work.state import State
from assessment.work.status import JobReport
from assessment.work.wanted import END
from switchyard.aws.queue import Message
from switchyard.errors import StoreError
from switchyard.process.log import get_logger
from switchyard.store import Store

log = get_logger(__name__)


@dataclass
class Settler:
    workload: Workload
    queue: WorkQueue
    open_queue: Callable[[str], WorkQueue]
    """Opens another queue, for jobs that continue there."""
    store: Store
    state: State
    max_attempts: int
    redelivery_delay: int

    def settle(self, message: Message, job: Job, outcome: Outcome, report: JobReport) -> None:
        outcome = self._last(job, outcome)
        severe = isinstance(outcome, Refused) or (isinstance(outcome, Failed) and not outcome.counts)
        report_it = log.error if severe else log.info
        report_it("outcome", outcome=type(outcome).__name__, why=_why(outcome))
        match outcome:
            case Skipped():
                self.queue.delete(message)
                self.state.skipped += 1
            case HandedBack():
                self._take_back(job)
                report.handed_back(outcome.reason)
                self.queue.hide(message, 0)
                self.state.handed_back += 1
            case Failed():
                self._retry(message, job, outcome, report)
            case Done() | Refused():
                self._end(message, job, outcome, report)

    def _end(self, message: Message, job: Job, outcome: Done | Refused, report: JobReport) -> None:
        """Report, note, delete; if there is a note, the end was reported."""
        following = self.workload.hand_over(job, outcome)
        if following is not None:
            self.open_queue(following).send(message.body, job.correlation_id, job.name, f"{job.name}-next")
        said = report.end(outcome)
        self._note(job, said)
        self.queue.delete(message)
        if isinstance(outcome, Done):
            self.state.done += 1
        else:
            self.state.failed += 1

    def _note(self, job: Job, said: dict[str, object]) -> None:
        try:
            self.store.put(f"{job.home}/{END}", json.dumps(said).encode())
        except StoreError as error:
            log.warning("the end was reported but could not be noted", error=str(error))

    def _last(self, job: Job, outcome: Outcome) -> Outcome:
        """Turn a failure that used up the attempts into an end.

        A job returned without saved chunks counts as a failure; otherwise it could be returned endlessly.
        """
        if isinstance(outcome, HandedBack) and outcome.counts:
            outcome = Failed(outcome.reason)
        if isinstance(outcome, Failed) and outcome.counts and self._used_up(job):
            return Refused(f"{outcome.error} (after {self.max_attempts} attempts; needs review)")
        return outcome

    def _retry(self, message: Message, job: Job, outcome: Failed, report: JobReport) -> None:
        if not outcome.counts:
            self._take_back(job)
        report.handed_back(outcome.error)
        self.queue.hide(message, self.redelivery_delay)
        self.state.retried += 1

    def _used_up(self, job: Job) -> bool:
        try:
            return Attempts(self.store, job.home).count().attempts >= self.max_attempts
        except StoreError:
            return False

    def _take_back(self, job: Job) -> None:
        try:
            Attempts(self.store, job.home).take_back()
        except StoreError as error:
            log.warning("the attempt could not be taken back", error=str(error))


def _why(outcome: Outcome) -> str | None:
    match outcome:
        case Refused() | Failed():
            return outcome.error
        case HandedBack() | Skipped():
            return outcome.reason
        case Done():
            return outcome.output
