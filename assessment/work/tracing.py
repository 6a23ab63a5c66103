"""The ids of the job at hand in every log line; null between jobs, with nothing left of the last one."""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from assessment.work.job import Job
from switchyard.process.log import bound


def between_jobs() -> None:
    """What lines of this thread carry outside of a job."""
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(correlation_id=None, action_uuid=None, message_id=None, queue=None)


@contextmanager
def during(job: Job, queue: str) -> Iterator[None]:
    with bound(
        correlation_id=job.correlation_id, action_uuid=job.uuid, message_id=job.message_id, queue=queue
    ):
        yield
