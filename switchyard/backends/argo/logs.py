"""The archived log of the step that failed.

With `archiveLogs` Argo puts a step's log into its artifact repository as `main-logs`. A step can write that
reference itself, and we read with our own credentials. So a log is read only where it is in the bucket of our
store, outside the store itself, and below a folder named like the Workflow.
"""

import os
from typing import Any

from switchyard.backends.argo.failure import FailedStep
from switchyard.backends.argo.resource import Resource
from switchyard.errors import StoreError
from switchyard.process.log import get_logger
from switchyard.store import locate

LOG_LIMIT = 1024 * 1024
OWN_FOLDERS = ("executions/", "callbacks/")  # of a store that is a whole bucket

log = get_logger(__name__)


def log_of(workflow: Resource, step: FailedStep) -> str | None:
    """The s3 address of the step's log; an artifact without a bucket is in the workflow's repository."""
    for artifact in (step.node.get("outputs") or {}).get("artifacts") or []:
        place: dict[str, Any] = artifact.get("s3") or {}
        if artifact.get("name") == "main-logs" and place.get("key"):
            bucket = place.get("bucket") or _repository(workflow).get("bucket")
            return f"s3://{bucket}/{place['key']}" if bucket else None
    return None


def is_own_log(address: str, workflow: str, store: str) -> bool:
    """Whether the address is one that Argo gives to logs of this Workflow, in the bucket of our store."""
    log_bucket, _, key = address.removeprefix("s3://").partition("/")
    bucket, _, prefix = store.removeprefix("s3://").partition("/")
    if not store.startswith("s3://") or log_bucket != bucket:
        return False
    inside = key.startswith(f"{prefix}/") if prefix else key.startswith(OWN_FOLDERS)
    return not inside and workflow in key.split("/")[:-1]


def archived_log(address: str) -> bytes | None:
    """The log's last part; None where there is none."""
    try:
        return _read(address)
    except StoreError as error:
        log.info("no archived log", address=address, error=str(error))
        return None


def _read(address: str) -> bytes:
    place, key = locate(address)
    with place.open(key) as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - LOG_LIMIT))
        return stream.read()


def _repository(workflow: Resource) -> dict[str, Any]:
    reference = (workflow.get("status") or {}).get("artifactRepositoryRef") or {}
    repository: dict[str, Any] = (reference.get("artifactRepository") or {}).get("s3") or {}
    return repository
