"""config/kubernetes: what it lets pods reach (security L17), and that its parts agree with each other."""

import re
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

CONFIG = Path(__file__).parents[3] / "config"
FOLDER = CONFIG / "kubernetes"
NETWORK = FOLDER / "network.yaml"
POLICIES = {each["metadata"]["name"]: each for each in yaml.safe_load_all(NETWORK.read_text())}
METADATA = [
    "169.254.169.254",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "fd00:ec2::254",
    "fd20:ce::254",
]


def reaches(rule: dict[str, Any], address: str, port: int) -> bool:
    if port not in {each["port"] for each in rule["ports"]}:
        return False
    if "to" not in rule:
        return True
    target = ip_address(address)
    return any(
        target in ip_network(block["cidr"]) and not any(target in ip_network(n) for n in block["except"])
        for block in (each["ipBlock"] for each in rule["to"])
        if ip_network(block["cidr"]).version == target.version
    )


def may(policy: str, address: str, port: int) -> bool:
    return any(reaches(rule, address, port) for rule in POLICIES[policy]["spec"]["egress"])


@pytest.mark.parametrize("policy", ["switchyard", "workflows"])
def test_security_l17_no_pod_reaches_a_metadata_service(policy: str) -> None:
    assert may(policy, "93.184.216.34", 443)
    assert may(policy, "2606:2800:21f::1", 443)
    assert not may(policy, "93.184.216.34", 22)
    assert [each for each in METADATA if may(policy, each, 443) or may(policy, each, 80)] == []


def test_security_l17_nothing_connects_to_a_workflow() -> None:
    policy = POLICIES["workflows"]
    assert policy["metadata"]["namespace"] == "workflows"
    assert policy["spec"]["podSelector"] == {}
    assert "Ingress" in policy["spec"]["policyTypes"]
    assert "ingress" not in policy["spec"]


def test_security_l17_the_worker_that_reads_uploads_reaches_neither_database_nor_api() -> None:
    assert not may("switchyard", "10.0.0.1", 5432)
    assert not may("switchyard", "10.0.0.1", 6443)
    for policy in ("database", "kubernetes-api"):
        (expression,) = POLICIES[policy]["spec"]["podSelector"]["matchExpressions"]
        assert "assessment" not in expression["values"]


def documents(*files: str) -> list[dict[str, Any]]:
    return [each for file in files for each in yaml.safe_load_all((FOLDER / file).read_text())]


def sample() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((FOLDER / "switchyard.yaml").read_text())
    return loaded


@pytest.mark.parametrize("file", ["scaling.yaml", "keda.yaml"])
def test_mission_b8_autoscalers_watch_action_names_that_exist(file: str) -> None:
    watched = set(re.findall(r"""action_name ?= ?["'](\w+)["']""", (FOLDER / file).read_text()))
    assert watched
    assert watched <= sample()["actions"].keys()


def test_every_action_of_the_cluster_sample_is_served() -> None:
    """Conductor serves every name; caboose follows what is handed over; a queue has workers that read it."""
    commands = {
        each["metadata"]["name"]: each["spec"]["template"]["spec"]["containers"][0]["command"]
        for each in documents("conductor.yaml", "caboose.yaml", "assessment.yaml")
    }
    configured = ["-c", "/etc/switchyard/switchyard.yaml"]
    assert commands == {
        "conductor": ["conductor", "run", *configured],
        "caboose": ["caboose", "run", *configured],
        "assessment": ["assessment", "work", *configured],
    }
    # The worker reads the queue of the only sqs action there is.
    queues = [each for each in sample()["actions"].values() if each["type"] == "sqs"]
    assert len(queues) == 1
    assert {"queue", "status_queue", "region"} <= queues[0].keys()
    assert {each["action"] for each in sample()["workflows"].values()} == {"argo", "assessment"}


def referenced(value: object) -> set[tuple[str, str | None]]:
    """The Secrets and claims that manifests name, with the key where one is named."""
    if isinstance(value, list):
        return {found for each in value for found in referenced(each)}
    if not isinstance(value, dict):
        return set()
    found = {name for each in value.values() for name in referenced(each)}
    if "secretKeyRef" in value:
        found.add((value["secretKeyRef"]["name"], value["secretKeyRef"]["key"]))
    if "secretRef" in value:
        found.add((value["secretRef"]["name"], None))
    if "claimName" in value:
        found.add((value["claimName"], None))
    return found


def test_newuser_11_the_page_names_every_secret_and_claim_that_pods_wait_for() -> None:
    names = referenced(documents(*yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]))
    page = (FOLDER / "README.md").read_text()
    assert ("assessment-reference", None) in names
    rows = [line for line in page.splitlines() if line.lstrip().startswith(("|", "3."))]
    missing = [
        (name, key)
        for name, key in names
        if not any(f"`{name}`" in row and (key is None or f"`{key}`" in row) for row in rows)
    ]
    assert missing == []


def test_newuser_11_the_migration_runs_as_the_owner() -> None:
    """As switchyard_admin, which the page named, nobody can migrate; the role is made by the first migration."""
    (row,) = (line for line in (FOLDER / "README.md").read_text().splitlines() if "`admin-url`" in line)
    assert "`admin-url` (the owner of the database, with CREATEROLE" in row
    assert "switchyard_admin" not in row


def test_the_rules_of_the_operator_are_the_alerts() -> None:
    (rules,) = (each for each in documents("monitoring.yaml") if each["kind"] == "PrometheusRule")
    assert rules["spec"] == yaml.safe_load((CONFIG / "monitoring" / "alerts.yaml").read_text())


def test_the_monitor_reaches_every_program() -> None:
    """One Service for all: its target port is the name that each program gives its own."""
    service, monitor, _ = documents("monitoring.yaml")
    (port,) = service["spec"]["ports"]
    assert monitor["spec"]["endpoints"][0]["port"] == port["name"]
    for program in documents("conductor.yaml", "caboose.yaml", "assessment.yaml", "signalbox.yaml"):
        if program["kind"] == "Deployment":
            pod = program["spec"]["template"]
            assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
            assert port["targetPort"] in {each["name"] for each in pod["spec"]["containers"][0]["ports"]}
