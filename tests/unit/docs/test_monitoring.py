"""config/monitoring and the scaling examples name only what the programs export, under labels that it has."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
import yaml
from botocore.config import Config as BotoConfig
from botocore.stub import Stubber

from assessment.work.metrics import StateCollector
from assessment.work.state import State
from caboose.metrics import CabooseMetrics
from conductor.metrics import ConductorMetrics
from signalbox.metrics import SignalboxMetrics
from switchyard.process.metrics import Metrics

CONFIG = Path(__file__).parents[3] / "config"
DASHBOARD = json.loads((CONFIG / "monitoring" / "dashboard.json").read_text())
ALERTS = yaml.safe_load((CONFIG / "monitoring" / "alerts.yaml").read_text())
SELECTED = re.compile(r"\b(switchyard_[a-z_]+)(?:\{([^}]*)\})?")
# What prometheus-adapter makes of ours, for the autoscaler.
DERIVED = {"switchyard_assessment_jobs_waiting", "switchyard_assessment_oldest_job_seconds"}
# What a histogram's parts have, and what Prometheus itself adds to every series.
ADDED = {"le", "instance", "job"}


ENDINGS = {"counter": ["_total"], "info": ["_info"], "histogram": ["_bucket", "_sum", "_count"]}


def exported() -> dict[str, set[str]]:
    """Every series that a program may show, with its labels."""
    found: dict[str, set[str]] = {}
    made = Metrics("signalbox")
    SignalboxMetrics(made)
    for registry in (ConductorMetrics().registry, CabooseMetrics().registry, made.registry):
        for metric in registry._collector_to_names:
            if (name := getattr(metric, "_name", "")).startswith("switchyard_"):
                labels = set(getattr(metric, "_labelnames", ()))
                found |= {name + ending: labels for ending in ENDINGS.get(getattr(metric, "_type", ""), [""])}
    for family in StateCollector(State(), 0.0).collect():
        for sample in family.samples:
            found[sample.name] = set(sample.labels)
    return {**found, "switchyard_build_info": {"program", "version"}}


def expressions() -> Iterator[tuple[str, str]]:
    for group in ALERTS["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]["query"]
    for document in yaml.safe_load_all((CONFIG / "kubernetes" / "scaling.yaml").read_text()):
        if document["kind"] == "ConfigMap":
            for rule in yaml.safe_load(document["data"]["config.yaml"])["externalRules"]:
                yield rule["name"]["as"], rule["metricsQuery"]


@pytest.mark.parametrize(("where", "expression"), [pytest.param(*each, id=each[0]) for each in expressions()])
def test_every_metric_is_exported_with_the_labels_that_are_asked_for(where: str, expression: str) -> None:
    named = {name: set(re.findall(r"(\w+)[=!]", chosen)) for name, chosen in SELECTED.findall(expression)}
    assert named, f"{where} asks for nothing of ours"
    known = exported()
    assert named.keys() <= known.keys()
    for name, labels in named.items():
        assert labels <= known[name] | ADDED
    grouped = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(", ")}
    assert grouped <= set.union(*(known[name] for name in named)) | ADDED


def test_nothing_that_is_exported_is_left_out_of_the_dashboard() -> None:
    shown = {name for _, expression in expressions() for name, _ in SELECTED.findall(expression)}
    parts = re.compile(r"_(bucket|sum|count)$")
    left = {parts.sub("", name) for name in exported()} - {parts.sub("", name) for name in shown}
    assert left == {"switchyard_assessment_task_expected_seconds"}  # an estimate, of use in a log only


def test_every_alert_states_what_to_do() -> None:
    for group in ALERTS["groups"]:
        for rule in group["rules"]:
            assert rule["labels"]["severity"] in {"warning", "critical"}
            assert {"summary", "description"} <= rule["annotations"].keys()


def test_the_autoscaler_asks_for_what_the_adapter_makes() -> None:
    scaler, adapter = yaml.safe_load_all((CONFIG / "kubernetes" / "scaling.yaml").read_text())
    asked = {
        metric["external"]["metric"]["name"] for metric in scaler["spec"]["metrics"] if "external" in metric
    }
    rules = yaml.safe_load(adapter["data"]["config.yaml"])["externalRules"]
    assert asked == DERIVED == {rule["name"]["as"] for rule in rules}
    deployment = yaml.safe_load((CONFIG / "kubernetes" / "assessment.yaml").read_text())
    assert scaler["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]


def test_aws_takes_the_scaling_of_ecs() -> None:
    """By AWS's own description of its interface; nothing is sent."""
    scaling = json.loads((CONFIG / "ecs" / "assessment-scaling.json").read_text())
    settings = BotoConfig(region_name="eu-west-2")
    client = boto3.client(
        "application-autoscaling", config=settings, aws_access_key_id="x", aws_secret_access_key="x"
    )
    with Stubber(client) as answers:
        answers.add_response("register_scalable_target", {}, scaling["target"])
        client.register_scalable_target(**scaling["target"])
        for policy in scaling["policies"]:
            answers.add_response("put_scaling_policy", {"PolicyARN": "arn:aws:x"}, policy)
            client.put_scaling_policy(**policy)
    assert [policy["PolicyName"] for policy in scaling["policies"]] == ["depth", "age", "cpu"]
