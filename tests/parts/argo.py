"""The real Argo workflow controller, on the tests' API server; it serves the workflows of every namespace."""

import os
from collections.abc import Iterable
from pathlib import Path

import yaml

from tests.parts.golang import ARGO
from tests.parts.kubeapi import WORKFLOWS, Object
from tests.parts.kubernetes import CORE, Cluster
from tests.parts.process import Process
from tests.waiting import until

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Argo:
    """A running controller; `install_definitions` has to come first."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.home = cluster.namespace()
        settings = {"config": yaml.safe_dump({"metricsConfig": {"enabled": False}})}
        named = {"metadata": {"name": "workflow-controller-configmap"}}
        cluster.api.create(f"{CORE}/{self.home}/configmaps", {**named, "data": settings})
        self.process = Process(
            "workflow-controller",
            [ARGO.binary(), "--kubeconfig", cluster.kubeconfig, "--namespace", self.home,
             "--executor-image", "none", "--qps", "200", "--burst", "400"],
            env={**os.environ, "LEADER_ELECTION_DISABLE": "true", "DEFAULT_REQUEUE_TIME": "1s"},
        )  # fmt: skip
        cluster.controllers.append(self.process)
        self.start()

    def start(self) -> None:
        self.process.start()

    def stop(self) -> None:
        self.process.stop()

    def submit(self, namespace: str, spec: Object, name: str = "") -> str:
        """Create a workflow; its name."""
        metadata = {"name": name} if name else {"generateName": "w-"}
        body = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": metadata, "spec": spec}
        made: str = self.cluster.api.create(WORKFLOWS.format(namespace), body)["metadata"]["name"]
        return made

    def make_template(self, namespace: str, name: str, spec: Object) -> None:
        """Create a WorkflowTemplate and wait for the controller, which hears of it by a watch of its own."""
        body = {"apiVersion": "argoproj.io/v1alpha1", "kind": "WorkflowTemplate", "metadata": {"name": name}}
        path = WORKFLOWS.format(namespace).replace("/workflows", "/workflowtemplates")
        self.cluster.api.create(path, {**body, "spec": spec})
        until(lambda: self._knows(namespace, name))

    def _knows(self, namespace: str, template: str) -> bool:
        probe = self.submit(namespace, {"workflowTemplateRef": {"name": template}, "suspend": True})
        found = self.until_phase(namespace, probe, "Running", "Error")
        self.cluster.api.delete(f"{WORKFLOWS.format(namespace)}/{probe}")
        return bool(found["status"]["phase"] == "Running")

    def get(self, namespace: str, name: str) -> Object:
        return self.cluster.api.get(f"{WORKFLOWS.format(namespace)}/{name}")

    def until_phase(self, namespace: str, name: str, *phases: str, seconds: float = 60) -> Object:
        """The workflow, as soon as it is in one of these phases."""

        def there() -> Object | None:
            workflow = self.get(namespace, name)
            return workflow if workflow.get("status", {}).get("phase") in phases else None

        workflow = until(there, seconds, every=0.1)
        assert workflow is not None
        return workflow


def install_definitions(cluster: Cluster) -> None:
    """Argo's CustomResourceDefinitions, as its module carries them, served and settled."""
    define(cluster, sorted(ARGO.kept().glob("argoproj.io_*.yaml")))


def define(cluster: Cluster, files: Iterable[Path]) -> None:
    """Create the CustomResourceDefinitions of these files, and wait until they are served."""
    for path in files:
        cluster.api.create(DEFINITIONS, yaml.safe_load(path.read_text()))
    until(lambda: all(map(_established, cluster.api.get(DEFINITIONS)["items"])))


def _established(definition: Object) -> bool:
    conditions = definition.get("status", {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
