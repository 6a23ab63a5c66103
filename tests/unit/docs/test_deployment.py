"""Security L17: what config/kubernetes lets pods reach."""

from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

NETWORK = Path(__file__).parents[3] / "config" / "kubernetes" / "network.yaml"
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
