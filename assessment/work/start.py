"""Build a worker and run it until it ends; `work` accepts any workload."""

import time

from assessment.work import tracing
from assessment.work.deadline import Stop
from assessment.work.estimate import Estimates
from assessment.work.health import HealthProcess
from assessment.work.keeper import Keeper
from assessment.work.pipeline import Pipeline
from assessment.work.policy import Workload
from assessment.work.queue import WorkQueue
from assessment.work.settings import Settings
from assessment.work.settle import Settler
from assessment.work.state import RUNNING, State, shared_state
from assessment.work.status import Reporter, worker_name
from assessment.work.verdict import Limits, overdue
from assessment.work.worker import Worker
from switchyard.process import signals
from switchyard.process.exit import Exit
from switchyard.store import open_store


def work(settings: Settings, workload: Workload) -> Exit:
    """Run until SIGTERM or a fatal error. The health process is forked first, before there are threads."""
    state = shared_state()
    state.status = RUNNING
    state.heartbeat = time.monotonic()
    tracing.between_jobs()
    with HealthProcess(settings, state, workload.service):
        stop = Stop(settings.grace, time.monotonic)
        with signals.handled(stop.ask):
            return assemble(settings, workload, state, stop).run()


def assemble(settings: Settings, workload: Workload, state: State, stop: Stop) -> Worker:
    from switchyard.aws import client as aws  # noqa: PLC0415 - the health process does not need boto3

    client = aws.sqs(settings.endpoint, settings.region)
    queue = WorkQueue(client, settings.queue)
    status_queue = WorkQueue(client, settings.status_queue) if settings.status_queue else None
    reporter = Reporter(status_queue, worker_name(), workload.kind)
    limits = Limits(settings.heartbeat_timeout, settings.task_buffer)
    keeper = Keeper(
        queue,
        settings.visibility,
        hanging=lambda: overdue(state, limits, time.monotonic()),
        beat=lambda: reporter.of_itself("beat", state),
    )
    store = open_store(settings.store)

    def opened(name: str) -> WorkQueue:
        other = WorkQueue(client, name)
        other.find()
        return other

    settler = Settler(workload, queue, opened, store, state, settings.max_attempts, settings.redelivery_delay)
    pipeline = Pipeline(
        workload, queue, store, reporter, keeper, settler, Estimates(), state, stop, settings.max_attempts
    )
    worker = Worker(settings, state, stop, queue, reporter, keeper, pipeline)
    keeper.overrun = worker.overrun
    return worker
