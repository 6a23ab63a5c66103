"""Whether a WorkflowTemplate is there. The API server does not check it, and Argo would only say so later."""

import time

from switchyard.backends.argo.resource import cluster_templates, templates
from switchyard.backends.kubernetes.answer import RefusedError
from switchyard.backends.kubernetes.client import Cluster

TRUSTED = 30.0


class Templates:
    """Looks a template up at most every TRUSTED seconds."""

    def __init__(self, cluster: Cluster, namespace: str, *, cluster_scope: bool) -> None:
        self._cluster = cluster
        self._path = cluster_templates() if cluster_scope else templates(namespace)
        self._kind = "ClusterWorkflowTemplate" if cluster_scope else "WorkflowTemplate"
        self._namespace = namespace
        self._seen: dict[str, float] = {}

    async def missing(self, name: str) -> str | None:
        """A sentence for people where it is not there; None where it is."""
        if time.monotonic() - self._seen.get(name, float("-inf")) < TRUSTED:
            return None
        try:
            await self._cluster.get(f"{self._path}/{name}")
        except RefusedError as error:
            if error.status != 404 or error.details.get("name") != name:
                raise
            return f'there is no {self._kind} "{name}" (namespace "{self._namespace}")'
        self._seen[name] = time.monotonic()
        return None
