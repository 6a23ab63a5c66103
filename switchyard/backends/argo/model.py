"""`argo`: workflows on Argo, through the Kubernetes API; `argo_resume`: wakes a suspended node of one."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from switchyard.backends.kubernetes.model import KubernetesAction
from switchyard.config.names import KubernetesName
from switchyard.config.templates import Template
from switchyard.config.units import Interval


class ArgoAction(KubernetesAction):
    """Workflows that Argo runs, from a WorkflowTemplate or written in place."""

    runs_workflows: ClassVar[bool] = True
    takes_callbacks: ClassVar[bool] = False
    instead_of_at_most_once: ClassVar[str] = "its name makes it run once; leave delivery out"
    template_of: ClassVar[str | None] = "WorkflowTemplate"
    template_form: ClassVar[Any] = KubernetesName

    type: Literal["argo"] = "argo"
    template: KubernetesName | None = None
    """The WorkflowTemplate of workflows that give none."""
    cluster_scope: bool = False
    """Whether templates are ClusterWorkflowTemplates."""
    service_account: KubernetesName | None = None
    """The service account that the workflows' pods run as."""
    labels: Mapping[str, str] = {}
    """Labels on every Workflow, beside ours."""
    reconcile: Interval = 60.0
    """How often the open executions of the ledger are compared with those of the cluster."""
    vanished_after: Interval = 30.0
    """How long a workflow may be missing from the cluster before it counts as failed."""

    @property
    def default_template(self) -> str | None:
        return self.template


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
    """The message set on the node."""
