"""Fills a real API server with workflows as Argo leaves them, and a ledger with their threads."""

import asyncio
import json
from typing import Any
from uuid import UUID

import psycopg

from switchyard.argo.resource import API, workflows
from switchyard.cluster.client import Cluster
from switchyard.execution import ACTION_LABEL, MANAGED_BY_LABEL, SHARD_LABEL, bucket_of
from tests.parts.kubernetes import Cluster as Part

NODES = 8
AT_ONCE = 32

SUBMIT = "select switchyard.submit('argo', '{}', workflow => 'job') from generate_series(1, %s)"
QUEUE = (
    "insert into switchyard.event (action_uuid, status, run, attempt, source) "
    "select unnest(%s::uuid[]), 'QUEUED', 1, 1, 'conductor'"
)


def submitted(url: str, count: int) -> list[UUID]:
    """So many workflows that conductor has handed over."""
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


def workflow(uuid: UUID, phase: str) -> dict[str, Any]:
    """About 6 KB, as a workflow of a few steps is."""
    labels = {MANAGED_BY_LABEL: "switchyard", ACTION_LABEL: str(uuid), SHARD_LABEL: str(bucket_of(uuid))}
    return {
        "apiVersion": API,
        "kind": "Workflow",
        "metadata": {"name": str(uuid), "labels": labels},
        "spec": {"entrypoint": "main", "templates": [{"name": "main", "suspend": {}}]},
        "status": {
            "phase": phase,
            "startedAt": "2026-01-01T00:00:00Z",
            "nodes": {f"{uuid}-{n}": _node(str(uuid), n, phase) for n in range(NODES)},
        },
    }


def _node(name: str, number: int, phase: str) -> dict[str, Any]:
    return {
        "id": f"{name}-{number}",
        "name": f"{name}.step-{number}",
        "displayName": f"step-{number}",
        "type": "Pod",
        "templateName": "work",
        "templateScope": f"local/{name}",
        "phase": phase,
        "boundaryID": name,
        "startedAt": "2026-01-01T00:00:00Z",
        "finishedAt": "2026-01-01T00:00:10Z",
        "progress": "1/1",
        "resourcesDuration": {"cpu": 5, "memory": 60},
        "inputs": {"parameters": [{"name": "site", "value": json.dumps(list(range(40)))}]},
        "outputs": {"exitCode": "0"},
        "hostNodeName": f"node-{number}.example",
    }
