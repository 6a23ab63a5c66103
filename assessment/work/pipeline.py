"""One delivery, from the message to exactly one settled outcome.

parse -> wanted? -> attempts -> started -> run -> settle
"""

import time
from dataclasses import dataclass

from assessment.work import tracing
from assessment.work.attempts import Attempts, used_up
from assessment.work.context import Context
from assessment.work.deadline import Deadline, Stop
from assessment.work.errors import FatalQueueError
from assessment.work.estimate import LONG, Estimates
from assessment.work.job import Job, parse
from assessment.work.keeper import Held, Keeper
from assessment.work.outcome import Done, Outcome, Refused, StopWork
from assessment.work.policy import Workload
from assessment.work.queue import WorkQueue
from assessment.work.settle import Settler
from assessment.work.state import State
from assessment.work.status import JobReport, Reporter
from switchyard.aws.queue import Message
from switchyard.process.log import get_logger
from switchyard.store import Store

GIVING_BACK = 10.0

log = get_logger(__name__)


@dataclass
class Pipeline:
    workload: Workload
    queue: WorkQueue
    store: Store
    reporter: Reporter
    keeper: Keeper
    settler: Settler
    estimates: Estimates
    state: State
    stop: Stop
    max_attempts: int

    def handle(self, message: Message) -> None:
        job = parse(message, self.store)
        with tracing.during(job, self.queue.name):
            log.info("received", delivery=message.deliveries)
            report = JobReport(self.reporter, job)
            self.keeper.hold(Held(message, job, report))
            began = time.monotonic()
            outcome = self._outcome(job, report)
            self.state.busy_seconds += time.monotonic() - began
            if self.keeper.take() is None:
                self.keeper.wait(GIVING_BACK)
                return
            self.settler.settle(message, job, outcome, report)

    def _outcome(self, job: Job, report: JobReport) -> Outcome:
        """Turn all results and errors into an outcome, except an error of the queue that ends the worker."""
        try:
            early = self.workload.skip(job, self.store)
            if early is not None:
                return early
            over = job.problem or self._used_up(job)
            return Refused(over) if over else self._run(job, report)
        except FatalQueueError:
            raise
        except StopWork as stopped:
            return stopped.outcome
        except Exception as error:  # noqa: BLE001 - the policy classifies it
            return self.workload.failed(error)

    def _used_up(self, job: Job) -> str | None:
        count = Attempts(self.store, job.home).begin()
        return used_up(count, job.delivery, self.max_attempts)

    def _run(self, job: Job, report: JobReport) -> Outcome:
        kind, size = self.workload.weigh(job, self.store)
        expected = self.estimates.of(kind, size)
        report.started()
        log.info("started", expected_seconds=round(expected, 1))
        context = Context(job, self.store, report, Deadline(self.stop, job.received, job.timeout), self.state)
        began = time.monotonic()
        try:
            self.state.heartbeat = began
            if expected > LONG:
                self.state.expected_duration = expected
                self.state.task_start = began
            outcome = self.workload.run(job, context)
        finally:
            self.state.task_start = self.state.expected_duration = 0.0
            self.state.heartbeat = time.monotonic()
        if isinstance(outcome, Done) and not context.found:
            self.estimates.learn(kind, size, time.monotonic() - began)
        return outcome
