"""What argo and argo_resume share: which cluster, and where in it."""

from switchyard.config.action import Action
from switchyard.config.names import KubernetesName, LocalPath


class KubernetesAction(Action):
    """An action that calls a Kubernetes API."""

    namespace: KubernetesName
    """The namespace of the workflows."""
    kubeconfig: LocalPath | None = None
    """Credentials from this file; without it the pod's own, else the user's kubeconfig."""
    context: str | None = None
    """The context of the kubeconfig; without it, its current one."""
