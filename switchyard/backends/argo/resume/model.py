"""`argo_resume`: wakes a suspended node of a waiting Argo workflow."""

from collections.abc import Mapping
from typing import Literal

from switchyard.backends.kubernetes.model import KubernetesAction
from switchyard.config.templates import Template


class ArgoResumeAction(KubernetesAction):
    """Succeeds the waiting node, with output parameters. Texts are templates over parameters and action."""

    type: Literal["argo_resume"] = "argo_resume"
    workflow: Template = "{{ parameters.workflow }}"
    """The name of the waiting Workflow."""
    node: Template = "{{ parameters.node }}"
    """The selector of the waiting node, like `displayName=approve` or `templateName=wait`."""
    outputs: Mapping[str, Template] = {}
    """Output parameters of the node; those in parameters.outputs are added."""
    message: Template = "resumed by {{ action.uuid }}"
    """What the node's message will say."""
