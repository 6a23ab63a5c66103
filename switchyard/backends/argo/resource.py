"""Where Workflows live in the Kubernetes API, and which of them are ours."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from switchyard.execution import ACTION_LABEL, MANAGED_BY_LABEL, parse_name

API = "argoproj.io/v1alpha1"
MANAGER = "switchyard"

Resource = Mapping[str, Any]


def workflows(namespace: str) -> str:
    """The collection of a namespace's Workflows."""
    return f"/apis/{API}/namespaces/{namespace}/workflows"


def templates(namespace: str) -> str:
    """The collection of a namespace's WorkflowTemplates."""
    return f"/apis/{API}/namespaces/{namespace}/workflowtemplates"


def cluster_templates() -> str:
    """The collection of ClusterWorkflowTemplates."""
    return f"/apis/{API}/clusterworkflowtemplates"


def identity(workflow: Resource, manager: str = MANAGER) -> tuple[UUID, int] | None:
    """The (uuid, run) of a Switchyard workflow; None for all others, which are never touched."""
    metadata = workflow.get("metadata") or {}
    labels = metadata.get("labels") or {}
    named = parse_name(str(metadata.get("name")))
    if named is None or labels.get(MANAGED_BY_LABEL) != manager or labels.get(ACTION_LABEL) != str(named[0]):
        return None
    return named
