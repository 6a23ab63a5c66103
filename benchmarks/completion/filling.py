"""Fills a real API server with workflows as Argo leaves them, and a ledger with their threads."""

import asyncio
from typing import Any
from uuid import UUID

import psycopg

from switchyard.backends.argo.resource import workflows
from switchyard.backends.kubernetes.client import Cluster
from tests.parts.kubernetes import Cluster as Part
from tests.parts.workflow import workflow

AT_ONCE = 32

SUBMIT = "select switchyard.submit('argo', '{}', workflow => 'job') from generate_series(1, %s)"
QUEUE = (
    "insert into switchyard.event (action_uuid, status, run, attempt, source) "
    "select unnest(%s::uuid[]), 'QUEUED', 1, 1, 'conductor'"
)


def submitted(url: str, count: int) -> list[UUID]:
    """Threads of workflows that conductor has handed over."""
    with psycopg.connect(url, autocommit=True) as connection:
        uuids = [row[0] for row in connection.execute(SUBMIT, [count])]
        connection.execute(QUEUE, [uuids])
    return uuids


async def fill(cluster: Cluster, namespace: str, uuids: list[UUID], phase: str) -> None:
    """Create them as Argo would leave them."""
    left = iter(uuids)

    async def create() -> None:
        for uuid in left:
            await cluster.create(workflows(namespace), workflow(uuid, phase))

    await asyncio.gather(*(create() for _ in range(AT_ONCE)))


def pour(part: Part, namespace: str, uuids: list[UUID], phase: str) -> None:
    """The same, straight into etcd: tens of thousands in seconds, for where only their number matters."""
    for start in range(0, len(uuids), 1000):
        made = [_stored(workflow(uuid, phase), namespace, uuid) for uuid in uuids[start : start + 1000]]
        part.store(f"argoproj.io/workflows/{namespace}", made)


def _stored(body: dict[str, Any], namespace: str, uuid: UUID) -> dict[str, Any]:
    given = {
        "namespace": namespace,
        "uid": str(uuid),
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "generation": 1,
    }
    return {**body, "metadata": {**body["metadata"], **given}}
