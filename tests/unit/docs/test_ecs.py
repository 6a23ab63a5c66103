"""config/ecs: its tasks read variables and files that exist, and the worker's are those that its platform sets."""

import json
import re
from pathlib import PurePosixPath
from typing import Any

import pytest
import yaml

from assessment.work.settings import Settings, read
from switchyard.config.load import load
from tests.acceptance.docs.blocks import ROOT

FOLDER = ROOT / "config" / "ecs"
KUBERNETES = ROOT / "config" / "kubernetes"
PROGRAMS = ["conductor", "caboose", "signalbox", "migrate"]
TASKS = [
    "assessment-task.json",
    "signalbox-task.json",
    *(f"{name}-task.json" for name in PROGRAMS if name != "signalbox"),
]


def container(file: str) -> dict[str, Any]:
    [only] = json.loads((FOLDER / file).read_text())["containerDefinitions"]
    found: dict[str, Any] = only
    return found


def variables(file: str) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container(file)["environment"]}


def test_the_worker_reads_the_variables_of_its_task() -> None:
    """HEARTBEAT_TIMEOUT, TASK_TIMEOUT_BUFFER and PORT are what the platform's own worker has; 8085 is its port."""
    given = variables(TASKS[0])
    settings = read(given, Settings())
    assert (settings.heartbeat_timeout, settings.task_buffer) == (120.0, 1.5)
    assert (settings.health_host, settings.health_port) == ("0.0.0.0", 8085)
    assert (settings.region, settings.store) == ("eu-west-2", given["SWITCHYARD_STORE"])
    assert settings.grace < container(TASKS[0])["stopTimeout"]
    known = {"HEARTBEAT_TIMEOUT", "TASK_TIMEOUT_BUFFER", "PORT", "HEALTH_HOST", "SHUTDOWN_GRACE_SECONDS"}
    assert given.keys() - known == {"AWS_REGION", "SWITCHYARD_STORE", "SWITCHYARD_BUNDLE", "TMPDIR"}


def test_mission_b9_the_health_check_asks_health_on_the_port_of_the_task() -> None:
    """/livez answers 200 while the queue is missing; with the variables of the platform's own worker it is PORT."""
    task, given = container(TASKS[0]), variables(TASKS[0])
    [url] = re.findall(r"http://[^']+", task["healthCheck"]["command"][-1])
    port = read(given, Settings()).health_port
    assert url == f"http://127.0.0.1:{port}/health"
    assert int(given["PORT"]) == port == task["portMappings"][0]["containerPort"]
    assert task["healthCheck"]["startPeriod"] > 0


def test_mission_the_worker_uses_the_grace_of_its_platform() -> None:
    """All of it but half a minute at most, in which the process ends; the chart renders the same manifest."""
    [only] = pod("assessment")["containers"]
    in_a_pod = {each["name"]: each["value"] for each in only["env"]}
    given = [
        (variables(TASKS[0]), container(TASKS[0])["stopTimeout"]),
        (in_a_pod, pod("assessment")["terminationGracePeriodSeconds"]),
    ]
    for environ, platform in given:
        assert "SHUTDOWN_GRACE_SECONDS" in environ
        grace = read({"SWITCHYARD_STORE": "file:///srv/store", **environ}, Settings()).grace
        assert 0 < platform - grace <= 30
    assert '"assessment.yaml"' in (KUBERNETES / "templates" / "manifests.yaml").read_text()
    changed_by_the_chart = (KUBERNETES / "templates" / "_adapt.tpl").read_text()
    assert "terminationGracePeriodSeconds" not in changed_by_the_chart
    assert '"env"' not in changed_by_the_chart


def test_the_worker_uses_the_queues_that_scaling_watches() -> None:
    text = (FOLDER / "assessment-scaling.json").read_text()
    assert f'"{Settings().queue}"' in text


def test_the_settings_of_signalbox_are_keys_of_the_configuration() -> None:
    given = variables(TASKS[1])
    secrets = {each["name"]: "postgresql://h/d" for each in container(TASKS[1])["secrets"]}
    config = load(ROOT / "config" / "kubernetes" / "switchyard.yaml", {**given, **secrets})
    assert config.store == given["SWITCHYARD_STORE"]
    assert config.signalbox.public_url == given["SWITCHYARD_SIGNALBOX__PUBLIC_URL"]
    ports = {each["name"]: each["containerPort"] for each in container(TASKS[1])["portMappings"]}
    assert (ports["http"], ports["health"]) == (config.signalbox.listen.port, config.signalbox.health.port)


def pod(name: str) -> dict[str, Any]:
    """What Kubernetes runs of that program."""
    documents = yaml.safe_load_all((KUBERNETES / f"{name}.yaml").read_text())
    [found] = [each for each in documents if each["kind"] in ("Deployment", "Job")]
    spec: dict[str, Any] = found["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_task_runs_what_a_pod_runs(name: str) -> None:
    task, spec = container(f"{name}-task.json"), pod(name)
    [only] = spec["containers"]
    assert task["command"] == only["command"]
    assert task["user"] == f"{spec['securityContext']['runAsUser']}:{spec['securityContext']['runAsGroup']}"
    assert task["readonlyRootFilesystem"] is only["securityContext"]["readOnlyRootFilesystem"] is True
    assert task["linuxParameters"]["capabilities"] == only["securityContext"]["capabilities"]
    assert {each["containerPath"] for each in task["mountPoints"]} == {
        each["mountPath"] for each in only["volumeMounts"]
    }
    values = yaml.safe_load((KUBERNETES / "values.yaml").read_text())["image"]
    assert task["image"] == f"{values['repository']}:{values['tag']}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_task_is_given_the_secrets_and_ports_of_a_pod(name: str) -> None:
    task, [only] = container(f"{name}-task.json"), pod(name)["containers"]
    assert [each["name"] for each in task["secrets"]] == [each["name"] for each in only["env"]]
    assert all(each["valueFrom"].startswith("arn:aws:secretsmanager:") for each in task["secrets"])
    ports = {each["name"]: each["containerPort"] for each in task.get("portMappings", [])}
    assert ports == {each["name"]: each["containerPort"] for each in only.get("ports", [])}
    probed = "livenessProbe" in only
    assert ("healthCheck" in task) == probed
    assert not probed or any(
        f":{port}/livez" in task["healthCheck"]["command"][-1] for port in ports.values()
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_task_has_the_room_and_the_time_of_a_pod(name: str) -> None:
    task, spec = json.loads((FOLDER / f"{name}-task.json").read_text()), pod(name)
    limit = spec["containers"][0]["resources"]["limits"]["memory"]
    assert int(task["memory"]) >= int(limit.removesuffix("Mi"))
    grace = spec.get("terminationGracePeriodSeconds", 30)
    assert grace <= container(f"{name}-task.json")["stopTimeout"] <= 120  # the most that Fargate gives


@pytest.mark.parametrize("name", ["conductor", "caboose"])
def test_a_task_can_load_the_configuration_that_it_mounts(name: str) -> None:
    task = container(f"{name}-task.json")
    secrets = {each["name"]: "postgresql://h/d" for each in task["secrets"]}
    config = load(KUBERNETES / "switchyard.yaml", {**variables(f"{name}-task.json"), **secrets})
    settings = config.conductor if name == "conductor" else config.caboose
    assert settings.grace < task["stopTimeout"]
    assert settings.health.port == task["portMappings"][0]["containerPort"]


@pytest.mark.parametrize("file", TASKS)
def test_a_file_that_a_task_names_is_on_a_volume(file: str) -> None:
    task = json.loads((FOLDER / file).read_text())
    only = container(file)
    mounted = {each["containerPath"]: each["sourceVolume"] for each in only["mountPoints"]}
    assert set(mounted.values()) == {each["name"] for each in task["volumes"]}
    named = [*only["command"], *variables(file).values()]
    for path in [each for each in named if each.startswith("/")]:
        assert any(PurePosixPath(path).is_relative_to(folder) for folder in mounted), path
