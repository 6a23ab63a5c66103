"""config/kubernetes, config/ecs: applied to a real API server, and run with exactly those rights."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from switchyard.backends.argo.resource import workflows
from tests.cluster.deploy.manifests import FOLDER, apply, built, containers, find
from tests.cluster.flow.flows import FLOWS
from tests.cluster.flow.yard import Yard
from tests.parts.argo import Argo
from tests.parts.database import Database
from tests.parts.kubeapi import KubeApi, Object
from tests.parts.kubernetes import CORE, Cluster
from tests.parts.need import obtain
from tests.waiting import until

PROGRAMS = ("conductor", "caboose", "assessment", "signalbox")


@pytest.fixture(scope="module")
def documents() -> list[Object]:
    return obtain("kustomize", built)


@pytest.fixture(scope="module")
def deployed(argo: Argo, documents: list[Object]) -> Cluster:
    """All of it, really applied, twice: the second time nothing changes."""
    first = [apply(argo.cluster, document) for document in documents]
    second = [apply(argo.cluster, document) for document in documents]
    assert [d["metadata"].get("generation") for d in first] == [
        d["metadata"].get("generation") for d in second
    ]
    return argo.cluster


def test_the_api_server_takes_it_all_dry(deployed: Cluster, documents: list[Object]) -> None:
    for document in documents:
        assert apply(deployed, document, dry=True)["metadata"]["name"] == document["metadata"]["name"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_is_confined_and_probed(documents: list[Object], program: str) -> None:
    deployment = find(documents, "Deployment", program)
    spec = deployment["spec"]["template"]["spec"]
    (container,) = containers(deployment)
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["livenessProbe"]["httpGet"]["path"] == "/livez"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["resources"]["limits"]["memory"]
    assert find(documents, "PodDisruptionBudget", program)["spec"]["minAvailable"] == 1


def test_no_secret_is_in_it(documents: list[Object]) -> None:
    assert not [d for d in documents if d["kind"] == "Secret"]
    for program in PROGRAMS:
        for variable in containers(find(documents, "Deployment", program))[0].get("env", []):
            assert ("SECRET" in variable["name"] or "URL" in variable["name"]) == ("valueFrom" in variable)


def test_a_change_of_the_configuration_rolls_the_deployments(documents: list[Object]) -> None:
    (config,) = (d["metadata"]["name"] for d in documents if d["kind"] == "ConfigMap")
    assert config.startswith("switchyard-")
    for program in PROGRAMS:
        volumes = find(documents, "Deployment", program)["spec"]["template"]["spec"]["volumes"]
        assert {"name": "config", "configMap": {"name": config}} in volumes


def test_the_configuration_is_a_good_one() -> None:
    argv = [sys.executable, "-c", "from switchyard.cli import main; main()", "check"]
    done = subprocess.run(
        [*argv, "-c", str(FOLDER / "switchyard.yaml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_ports_agree(documents: list[Object]) -> None:
    ports = {
        p: containers(find(documents, "Deployment", p))[0]["ports"][0]["containerPort"] for p in PROGRAMS
    }
    assert ports == {"conductor": 8081, "caboose": 8082, "assessment": 8085, "signalbox": 8083}
    opened = find(documents, "NetworkPolicy", "switchyard")["spec"]["ingress"][0]["ports"]
    assert {port["port"] for port in opened} == set(ports.values())


def token(cluster: Cluster, account: str, namespace: str = "switchyard") -> str:
    path = f"{CORE}/{namespace}/serviceaccounts/{account}/token"
    made: str = cluster.api.create(path, {"spec": {"expirationSeconds": 3600}})["status"]["token"]
    return made


FORBIDDEN = {
    "conductor": [("DELETE", "workflows/x"), ("GET", "workflows"), ("GET", "secrets/x"), ("POST", "pods")],
    "caboose": [
        ("POST", "workflows"),
        ("GET", "secrets/x"),
        ("GET", "workflowtemplates/x"),
        ("DELETE", "pods/x"),
    ],
    "offline": [("GET", "workflows/x"), ("GET", "pods")],
}


@pytest.mark.parametrize("account", FORBIDDEN)
def test_no_program_may_do_more_than_it_does(deployed: Cluster, account: str) -> None:
    api = KubeApi(deployed.url, deployed.authority, token(deployed, account))
    core = f"{CORE}/workflows"
    for method, what in FORBIDDEN[account]:
        root = (
            core if what.split("/")[0] in ("pods", "secrets") else workflows("workflows").rpartition("/")[0]
        )
        with pytest.raises(httpx.HTTPStatusError, match="forbidden"):
            api.request(method, f"{root}/{what}", {})
    api.close()


def test_conductor_and_caboose_run_with_exactly_these_rights(
    deployed: Cluster, database: Database, tmp_path: Path
) -> None:
    """Every verb is used: submit, look again, wake, list, watch, terminate, delete."""
    folders = {name: tmp_path / name for name in ("conductor", "caboose")}
    yards: dict[str, Yard] = {}
    for name, folder in folders.items():
        folder.mkdir()
        config = deployed.kubeconfig_of(token(deployed, name), f"sa-{name}")
        store = (tmp_path / "store").as_uri()
        yards[name] = Yard(
            *(database, deployed, "workflows", folder, templated()), kubeconfig=config, store=store
        )
    template = {"entrypoint": "main", "templates": [{"name": "main", "suspend": {"duration": "0"}}]}
    body = {"apiVersion": "argoproj.io/v1alpha1", "kind": "WorkflowTemplate", "metadata": {"name": "quick"}}
    deployed.api.create(
        f"{workflows('workflows').rpartition('/')[0]}/workflowtemplates", {**body, "spec": template}
    )
    yards["conductor"].conductor.start()
    yards["caboose"].caboose.start()
    try:
        run_all(yards["conductor"])
    finally:
        for yard in yards.values():
            yard.close()


def templated() -> dict[str, Any]:
    return {**FLOWS, "quick": {"action": "argo", "template": "quick"}}


def run_all(yard: Yard) -> None:
    approval, cancelled = yard.submit("approval"), yard.submit("terminated")
    ends = {yard.submit("quick"): "SUCCESSFUL", approval: "SUCCESSFUL", cancelled: "CANCELED"}
    ends[yard.submit("waker", waiting=str(approval))] = "SUCCESSFUL"
    until(lambda: yard.ledger.status(cancelled) == "RUNNING", every=0.2)
    yard.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", cancelled)
    until(lambda: {u: yard.ledger.status(u) for u in ends} == ends, every=0.2)
    until(lambda: yard.in_cluster() == [], every=0.2)


def test_the_ecs_task_definition_is_one(tmp_path: Path) -> None:
    """Against the service's own model, as botocore carries it; there is no ECS to register it with."""
    import botocore.session
    from botocore.validate import ParamValidator

    task = json.loads((FOLDER.parent / "ecs" / "assessment-task.json").read_text())
    shape = botocore.session.get_session().get_service_model("ecs").operation_model("RegisterTaskDefinition")
    assert shape.input_shape is not None
    report = ParamValidator().validate(task, shape.input_shape)
    assert not report.has_errors(), report.generate_report()
    (container,) = task["containerDefinitions"]
    assert container["portMappings"][0]["containerPort"] == 8085
    assert "8085/health" in container["healthCheck"]["command"][-1]
    assert container["readonlyRootFilesystem"] is True
    assert container["user"] != "root"
