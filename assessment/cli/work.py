"""`assessment work`: processes jobs from the queue until it receives a signal."""

import os
import sys
from pathlib import Path

import click

from assessment.cli.options import config_file
from switchyard.errors import ConfigError


@click.command(short_help="Process jobs from the SQS queue.")
@click.option("-b", "--bundle", envvar="SWITCHYARD_BUNDLE", help="The reference bundle's folder.")
@click.option("--store", envvar="SWITCHYARD_STORE", help="The store for inputs, checkpoints and results.")
@config_file
def work(*, bundle: str | None, store: str | None, config: str | None) -> None:
    """Process jobs from the SQS queue, one at a time; start more workers for more concurrency.

    SIGTERM finishes the job, or saves it and returns it, within 30 s, and exits 0; a second ends at once.
    Exits 78 if credentials or a queue are missing. Settings come from the environment: SQS_QUEUE_NAME,
    SQS_STATUS_QUEUE_NAME, SQS_ENDPOINT, SQS_WAIT_TIME_SECONDS, SQS_VISIBILITY_TIMEOUT, AWS_REGION, PORT or
    HEALTH_PORT, HEARTBEAT_TIMEOUT, TASK_TIMEOUT_BUFFER, MAX_ATTEMPTS, REDELIVERY_DELAY_SECONDS,
    SHUTDOWN_GRACE_SECONDS.

    \b
    Example: SQS_ENDPOINT=http://127.0.0.1:9324 assessment work --bundle reference --store file:///srv/store
    """
    # these import boto3, numpy and shapely, which --help does not need
    from assessment.work.configured import settings_of  # noqa: PLC0415
    from assessment.work.start import work as run  # noqa: PLC0415
    from assessment.work.workload import assessments  # noqa: PLC0415

    settings = settings_of(Path(config) if config else None, {**os.environ, **_said(store)})
    if bundle is None:
        raise ConfigError("no reference bundle: give --bundle or set SWITCHYARD_BUNDLE")
    sys.exit(run(settings, assessments(bundle)))


def _said(store: str | None) -> dict[str, str]:
    return {"SWITCHYARD_STORE": store} if store else {}
