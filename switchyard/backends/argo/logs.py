"""The archived log of the step that failed.

With `archiveLogs` Argo puts a step's log into its artifact repository as `main-logs`. It is read only where
that is the bucket of our own store: a workflow must not make us fetch from wherever it likes with our
credentials.
"""

import asyncio
import os
from typing import Any
from urllib.parse import urlsplit

from switchyard.backends.argo.failure import FailedStep
from switchyard.backends.argo.resource import Resource
from switchyard.errors import StoreError
from switchyard.process.log import get_logger
from switchyard.store import Store, locate

LOG_LIMIT = 1024 * 1024

log = get_logger(__name__)


def log_of(workflow: Resource, step: FailedStep) -> str | None:
    """The s3 address of the step's log; an artifact without a bucket is in the workflow's repository."""
    for artifact in (step.node.get("outputs") or {}).get("artifacts") or []:
        place: dict[str, Any] = artifact.get("s3") or {}
        if artifact.get("name") == "main-logs" and place.get("key"):
            bucket = place.get("bucket") or _repository(workflow).get("bucket")
            return f"s3://{bucket}/{place['key']}" if bucket else None
    return None


async def archived_log(store: Store, address: str | None) -> bytes | None:
    """The log's last part; None where there is none within our own bucket."""
    if address is None or urlsplit(address).netloc != urlsplit(store.url).netloc:
        return None
    try:
        return await asyncio.to_thread(_read, address)
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
