"""The Workflow resource of one run: from a WorkflowTemplate, or from a manifest written in place."""

import copy
import hashlib
import re
from collections.abc import Mapping
from typing import Any

from switchyard.backends.argo.model import ArgoAction
from switchyard.backends.argo.resource import API, MANAGER
from switchyard.backends.prepare import PreparedWorkflow
from switchyard.execution import (
    ACTION_LABEL,
    MANAGED_BY_LABEL,
    SHARD_LABEL,
    WORKFLOW_LABEL,
    bucket_of,
    name_of,
)
from switchyard.handlers import Work

TEN_YEARS = 10 * 365 * 24 * 3600


def manifest(work: Work, prepared: PreparedWorkflow, action: ArgoAction) -> dict[str, Any]:
    """The whole body of the create; ValueError where the configuration gives nothing to run."""
    document = _document(prepared, action)
    metadata = document.setdefault("metadata", {})
    metadata.pop("generateName", None)
    metadata["name"] = name_of(work.uuid, work.run)
    metadata["namespace"] = action.namespace
    metadata["labels"] = {**(metadata.get("labels") or {}), **action.labels, **labels(work)}
    _complete(document["spec"], prepared, action)
    return {"apiVersion": API, "kind": "Workflow", **document}


def template_of(prepared: PreparedWorkflow, action: ArgoAction) -> str | None:
    """The WorkflowTemplate's name; None where the workflow is written in place."""
    if prepared.workflow.manifest is not None:
        return None
    template = prepared.workflow.template or action.template
    if not isinstance(template, str):
        raise ValueError("the workflow names neither a WorkflowTemplate nor a manifest")  # noqa: TRY004 - one kind
    return template


def labels(work: Work) -> dict[str, str]:
    """The labels by which caboose recognises Switchyard's workflows and its shard."""
    return {
        MANAGED_BY_LABEL: MANAGER,
        ACTION_LABEL: str(work.uuid),
        WORKFLOW_LABEL: label_value(work.workflow or work.action_name),
        SHARD_LABEL: str(bucket_of(work.uuid)),
    }


def label_value(text: str) -> str:
    """The text itself where Kubernetes accepts it as a label, else its valid characters with a hash."""
    if re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?", text):
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:10]
    return f"{re.sub(r'[^A-Za-z0-9]', '-', text)[:50].strip('-')}-{digest}".lstrip("-")


def _document(prepared: PreparedWorkflow, action: ArgoAction) -> dict[str, Any]:
    template = template_of(prepared, action)
    if prepared.workflow.manifest is not None:
        return copy.deepcopy(dict(prepared.workflow.manifest.document))
    reference: dict[str, Any] = {"name": template}
    if action.cluster_scope:
        reference["clusterScope"] = True
    return {"spec": {"workflowTemplateRef": reference}}


def _complete(spec: dict[str, Any], prepared: PreparedWorkflow, action: ArgoAction) -> None:
    arguments = spec.setdefault("arguments", {})
    arguments["parameters"] = _parameters(arguments.get("parameters") or [], prepared.variables)
    spec["podGC"] = {"strategy": "OnPodCompletion"}
    # Caboose deletes it, once its archive is durable. Each key is set: an absent one comes from the template
    # or from the controller's defaults.
    spec["ttlStrategy"] = dict.fromkeys(
        ("secondsAfterCompletion", "secondsAfterSuccess", "secondsAfterFailure"), TEN_YEARS
    )
    if action.service_account is not None:
        spec["serviceAccountName"] = action.service_account


def _parameters(given: list[Mapping[str, Any]], variables: Mapping[str, str]) -> list[dict[str, Any]]:
    """What the manifest gives, and the five by which the workflow finds its places."""
    ours = {f"switchyard-{name}": value for name, value in variables.items()}
    kept = [dict(parameter) for parameter in given if parameter.get("name") not in ours]
    return kept + [{"name": name, "value": value} for name, value in ours.items()]
