"""A Workflow as Argo leaves it, for tests of those who only read and delete them: no controller is needed."""

import json
from typing import Any
from uuid import UUID

from switchyard.backends.argo.resource import API
from switchyard.execution import ACTION_LABEL, MANAGED_BY_LABEL, SHARD_LABEL, bucket_of

NODES = 8


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
