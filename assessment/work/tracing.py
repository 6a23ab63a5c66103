"""Binds the ids of the current job to log lines; between jobs they are null."""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from assessment.work.job import Job
from switchyard.process.log import bound


def between_jobs() -> None:
    """Reset the ids for log lines outside of a job."""
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(correlation_id=None, action_uuid=None, message_id=None, queue=None)


@contextmanager
def during(job: Job, queue: str) -> Iterator[None]:
    with bound(
        correlation_id=job.correlation_id, action_uuid=job.uuid, message_id=job.message_id, queue=queue
    ):
        yield
