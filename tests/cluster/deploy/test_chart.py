"""config/kubernetes as a Helm chart: the same content as the kustomization, and installed on a real API server."""

import os
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from tests.cluster.deploy.manifests import FOLDER, apply, built, containers, find
from tests.parts.argo import define
from tests.parts.golang import HELM, KEDA, PROMETHEUS_OPERATOR
from tests.parts.kubeapi import Object
from tests.parts.kubernetes import Cluster
from tests.parts.need import obtain

KINDS = ("scaledobjects", "triggerauthentications", "servicemonitors", "prometheusrules")
ALL = ("--set", "monitoring=true", "--set", "autoscaling=keda")


def helm(*argv: str | Path, config: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Helm with nothing of this user's own: what it caches goes with its home."""
    binary = obtain("helm", HELM.binary)
    with TemporaryDirectory() as home:
        environ = {"PATH": os.environ["PATH"], "HOME": home, "KUBECONFIG": str(config or f"{home}/none")}
        return subprocess.run([binary, *argv], env=environ, capture_output=True, text=True, check=False)


def template(*options: str, namespace: str = "switchyard") -> list[Object]:
    done = helm("template", "switchyard", FOLDER, "--namespace", namespace, *options)
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


@pytest.fixture(scope="module")
def rendered() -> list[Object]:
    return template("--set", "namespaces.create=true")


@pytest.fixture(scope="module")
def operators(kubernetes: Cluster) -> Cluster:
    """The definitions of KEDA and of the Prometheus operator, as their modules have them."""
    files = [
        *obtain("KEDA", KEDA.files).iterdir(),
        *obtain("Prometheus", PROMETHEUS_OPERATOR.files).iterdir(),
    ]
    define(kubernetes, [file for file in files if file.stem.rpartition("_")[2] in KINDS])
    return kubernetes


def test_lint_finds_nothing() -> None:
    done = helm("lint", "--strict", FOLDER, *ALL)
    assert done.returncode == 0, done.stdout + done.stderr


def comparable(documents: list[Object]) -> dict[tuple[str, ...], Object]:
    """By kind, namespace and name, without what is derived from the content: hashes in names."""
    text = re.sub(r"\b(switchyard|migrate)-[0-9a-z]{10}\b", r"\1", yaml.safe_dump_all(documents))
    return {
        (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each
        for each in yaml.safe_load_all(text)
    }


def test_the_content_is_that_of_the_kustomization(rendered: list[Object]) -> None:
    chart, kustomization = comparable(rendered), comparable(obtain("kustomize", built))
    assert sorted(chart) == sorted(kustomization)
    for key, document in kustomization.items():
        assert chart[key] == document, key


def test_values_reach_everything() -> None:
    given = {
        "image.repository": "mine/yard", "image.tag": "v7", "image.pullSecrets[0]": "pull", "conductor.replicas": "5",
        "namespaces.workflows": "flows", "namespaces.monitoring": "watch", "namespaces.ingress": "door",
        "signalbox.host": "yard.test", "signalbox.ingressClass": "nginx",
        "serviceAccountAnnotations.conductor.role": "arn",
    }  # fmt: skip
    documents = template(
        *(word for pair in given.items() for word in ("--set", "=".join(pair))), *ALL, namespace="yard"
    )
    # The configuration is the user's own text.
    text = yaml.safe_dump_all(each for each in documents if each["kind"] != "ConfigMap")
    assert not re.findall(r"namespace: (?!yard$|flows$).*", text, re.MULTILINE)
    assert set(re.findall(r"kubernetes.io/metadata.name: (\S+)", text)) == {"watch", "door"}
    assert set(re.findall(r"image: (\S+)", text)) == {"mine/yard:v7"}
    assert find(documents, "Deployment", "conductor")["spec"]["replicas"] == 5
    assert find(documents, "Ingress", "signalbox")["spec"]["rules"][0]["host"] == "yard.test"
    account = next(
        each
        for each in documents
        if (each["kind"], each["metadata"]["name"]) == ("ServiceAccount", "conductor")
    )
    assert account["metadata"]["annotations"] == {"role": "arn"}


def test_a_program_can_be_left_out() -> None:
    documents = template("--set", "assessment.enabled=false", "--set", "signalbox.enabled=false")
    names = {(each["kind"], each["metadata"]["name"]) for each in documents}
    assert not {name for _, name in names} & {"assessment", "signalbox"}
    assert ("Deployment", "conductor") in names


@pytest.mark.parametrize(
    "option", ["autoscaling=both", "conductor.replica=3", "conductor.replicas=-1", "monitor=true"]
)
def test_a_value_that_means_nothing_is_refused(option: str) -> None:
    done = helm("template", "switchyard", FOLDER, "--set", option)
    assert done.returncode != 0
    assert option.partition("=")[0].rpartition(".")[2] in done.stderr


@pytest.mark.parametrize("file", ["keda.yaml", "monitoring.yaml", "scaling.yaml"])
def test_what_operators_read_fits_their_definitions(operators: Cluster, file: str) -> None:
    for document in yaml.safe_load_all((FOLDER / file).read_text()):
        document["metadata"]["namespace"] = "default"
        assert apply(operators, document, dry=True)["metadata"]["name"]


def installed(cluster: Cluster, namespace: str) -> dict[str, Any]:
    listed = cluster.api.get(f"/apis/apps/v1/namespaces/{namespace}/deployments")["items"]
    return {each["metadata"]["name"]: each for each in listed}


def config_of(deployment: Object) -> str:
    volumes = deployment["spec"]["template"]["spec"]["volumes"]
    (name,) = (each["configMap"]["name"] for each in volumes if "configMap" in each)
    return str(name)


def test_install_upgrade_uninstall(operators: Cluster, tmp_path: Path) -> None:
    """A changed configuration is another ConfigMap, another migration Job, and rolls the Deployments."""
    namespace, flows = operators.namespace(), operators.namespace()
    options = ["--namespace", namespace, "--set", f"namespaces.workflows={flows}", *ALL]
    done = helm("install", "yard", FOLDER, *options, config=operators.kubeconfig)
    assert done.returncode == 0, done.stderr
    first = installed(operators, namespace)
    assert set(first) == {"conductor", "caboose", "signalbox", "assessment"}
    assert containers(first["conductor"])[0]["image"] == "registry.example/switchyard:0.1.0"

    other = tmp_path / "switchyard.yaml"
    other.write_text((FOLDER / "switchyard.yaml").read_text() + "\n# changed\n")
    done = helm(
        "upgrade", "yard", FOLDER, *options, "--set-file", f"config={other}", config=operators.kubeconfig
    )
    assert done.returncode == 0, done.stderr
    second = installed(operators, namespace)
    config = config_of(second["conductor"])
    assert config != config_of(first["conductor"])
    stored = operators.api.get(f"/api/v1/namespaces/{namespace}/configmaps/{config}")
    assert stored["data"]["switchyard.yaml"].endswith("# changed\n")
    assert second["conductor"]["metadata"]["generation"] > first["conductor"]["metadata"]["generation"]

    done = helm("uninstall", "yard", "--namespace", namespace, config=operators.kubeconfig)
    assert done.returncode == 0, done.stderr
    assert installed(operators, namespace) == {}
