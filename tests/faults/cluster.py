"""The part of the yard around Argo: a real API server behind a network, and the real controller."""

from contextlib import ExitStack, closing
from typing import Any

from switchyard.backends.argo.resource import workflows
from tests.cluster.flow.flows import single
from tests.faults.flows import AGAIN, DONE, PATIENT, REPORTED, SORRY
from tests.faults.works import FINE, Work, hook
from tests.parts.argo import Argo, install_definitions
from tests.parts.kubernetes import Cluster
from tests.parts.proxy import Proxy

BROKEN = {
    "entrypoint": "main",
    "templates": [{"name": "main", "steps": [[{"name": "a", "template": "none"}]]}],
}


class Flows:
    """Where Argo workflows run; none of them has a pod."""

    def __init__(self, stack: ExitStack) -> None:
        self.cluster = stack.enter_context(closing(Cluster()))
        install_definitions(self.cluster)
        self.argo = Argo(self.cluster)
        stack.callback(self.argo.stop)
        self.namespace = self.cluster.namespace()
        self.network = stack.enter_context(Proxy(self.cluster.port))
        self.kubeconfig = self.cluster.kubeconfig_of(
            self.cluster.admin_token, "admin", port=self.network.port
        )

    def configuration(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The action and the workflows."""
        action = {
            "type": "argo",
            "namespace": self.namespace,
            "kubeconfig": str(self.kubeconfig),
            "concurrency": 10,
            "timeout": "8s",
            "retry": PATIENT,
            "reconcile": "1s",
            "vanished_after": "3s",
        }
        shared = {"action": "argo", "timeout": "10m", "retry": AGAIN, "callbacks": [DONE, REPORTED, SORRY]}
        once = {**shared, "retry": {"attempts": 1}}
        return {"argo": action}, {
            "good": {**shared, "manifest": {"spec": single({"suspend": {"duration": "0"}})}},
            "late": {**once, "manifest": {"spec": single({"suspend": {}}, activeDeadlineSeconds=1)}},
            "broken": {**once, "manifest": {"spec": BROKEN}},
        }

    def works(self) -> list[Work]:
        """Workflows that succeed, that Argo ends by their deadline, and that it refuses to run."""
        return [
            Work("argo", 6, "argo", hook("accept"), FINE, "good"),
            Work("late", 2, "argo", hook("accept"), {"TIMED_OUT": "deadline"}, "late"),
            Work("broken", 2, "argo", hook("accept"), {"FAILED": "template"}, "broken"),
        ]

    def left_over(self) -> list[str]:
        """Workflows that nobody has deleted."""
        items = self.cluster.api.get(workflows(self.namespace))["items"]
        return [f"in the cluster: {item['metadata']['name']}" for item in items]
