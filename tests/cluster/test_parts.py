"""The cluster parts behave as the programs rely on: the API server, the Argo controller, the node."""

import sys

import httpx
import pytest

from tests.parts.argo import Argo
from tests.parts.kubeapi import WORKFLOWS, KubeApi, Object
from tests.parts.kubernetes import Cluster
from tests.parts.node import Node
from tests.waiting import until

SUSPEND: Object = {"entrypoint": "wait", "templates": [{"name": "wait", "suspend": {}}]}


def _command(*words: str, **more: object) -> Object:
    container = {"image": "none", "command": list(words)}
    return {"entrypoint": "go", "templates": [{"name": "go", "container": container, **more}]}


def test_a_token_may_do_what_its_rules_say(kubernetes: Cluster, namespace: str) -> None:
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]
    api = KubeApi(kubernetes.url, kubernetes.authority, kubernetes.token("reader", namespace, rules))
    assert api.get(f"/api/v1/namespaces/{namespace}/configmaps")["kind"] == "ConfigMapList"
    with pytest.raises(httpx.HTTPStatusError, match="forbidden"):
        api.create(f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "x"}})
    api.close()


def test_history_that_is_gone_is_410(kubernetes: Cluster, namespace: str) -> None:
    path = WORKFLOWS.format(namespace)
    version = kubernetes.api.get(path)["metadata"]["resourceVersion"]
    kind = {"kind": "Workflow", "apiVersion": "argoproj.io/v1alpha1"}
    kubernetes.api.create(path, {**kind, "metadata": {"name": "w"}, "spec": SUSPEND})
    kubernetes.compact()
    kubernetes.restart()
    answer = kubernetes.api.watch(path, version, 5)
    assert [(event["type"], event["object"]["code"]) for event in answer] == [("ERROR", 410)]


def test_a_full_quota_is_403(kubernetes: Cluster, argo: Argo, namespace: str) -> None:
    kubernetes.quota(namespace, "count/workflows.argoproj.io", 1)
    argo.submit(namespace, SUSPEND, "first")
    with pytest.raises(httpx.HTTPStatusError, match="exceeded quota"):
        argo.submit(namespace, SUSPEND, "second")


def test_a_suspended_workflow_waits_and_can_be_terminated(argo: Argo, namespace: str) -> None:
    name = argo.submit(namespace, SUSPEND)
    argo.until_phase(namespace, name, "Running")
    argo.cluster.api.patch(f"{WORKFLOWS.format(namespace)}/{name}", {"spec": {"shutdown": "Terminate"}})
    ended = argo.until_phase(namespace, name, "Failed")
    assert ended["status"]["message"] == "Stopped with strategy 'Terminate'"


def test_the_node_runs_the_command_and_returns_its_outputs(
    argo: Argo, node: Node, namespace: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    answer = tmp_path_factory.mktemp("pod") / "answer"
    node.environ["ANSWER"] = str(answer)
    spec = _command(
        *(sys.executable, "-c", "import os; open(os.environ['ANSWER'], 'w').write('42')"),
        outputs={"parameters": [{"name": "answer", "valueFrom": {"path": str(answer)}}]},
    )
    ended = argo.until_phase(namespace, argo.submit(namespace, spec), "Succeeded", "Failed", "Error")
    [pod] = ended["status"]["nodes"].values()
    assert pod["outputs"]["parameters"][0]["value"] == "42"
    assert pod["outputs"]["exitCode"] == "0"


def test_the_exit_code_and_last_output_of_a_node_reach_the_workflow(
    argo: Argo, node: Node, namespace: str
) -> None:
    spec = _command("sh", "-c", "echo no such parcel; exit 65")
    spec["templates"][0]["container"]["terminationMessagePolicy"] = "FallbackToLogsOnError"
    ended = argo.until_phase(namespace, argo.submit(namespace, spec), "Succeeded", "Failed", "Error")
    [pod] = ended["status"]["nodes"].values()
    assert pod["message"] == "main: Error (exit code 65): no such parcel\n"
    assert pod["outputs"]["exitCode"] == "65"


@pytest.mark.parametrize("end", ["terminate", "delete"])
def test_the_node_ends_what_the_workflow_no_longer_wants(
    argo: Argo, node: Node, namespace: str, end: str
) -> None:
    path = f"{WORKFLOWS.format(namespace)}/{(name := argo.submit(namespace, _command('sleep', '600')))}"
    argo.until_phase(namespace, name, "Running")
    process = until(lambda: list(node._processes.values()))[0]
    if end == "terminate":
        argo.cluster.api.patch(path, {"spec": {"shutdown": "Terminate"}})
        assert argo.until_phase(namespace, name, "Failed")
    else:
        argo.cluster.api.delete(path)
    until(lambda: process.poll() is not None)


def test_a_pod_past_its_deadline_is_killed(argo: Argo, node: Node, namespace: str) -> None:
    spec = {**_command("sleep", "600"), "activeDeadlineSeconds": 2}
    ended = argo.until_phase(namespace, argo.submit(namespace, spec), "Failed", "Error")
    assert "deadline" in str(ended["status"]["nodes"])
