"""config/ecs: its tasks read variables and files that exist, and the worker's are those that its platform sets."""

import json
from pathlib import PurePosixPath
from typing import Any

import pytest

from assessment.work.settings import Settings, read
from switchyard.config.load import load
from tests.acceptance.docs.blocks import ROOT

FOLDER = ROOT / "config" / "ecs"
TASKS = ["assessment-task.json", "signalbox-task.json"]


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


@pytest.mark.parametrize("file", TASKS)
def test_a_file_that_a_task_names_is_on_a_volume(file: str) -> None:
    task = json.loads((FOLDER / file).read_text())
    only = container(file)
    mounted = {each["containerPath"]: each["sourceVolume"] for each in only["mountPoints"]}
    assert set(mounted.values()) == {each["name"] for each in task["volumes"]}
    named = [*only["command"], *variables(file).values()]
    for path in [each for each in named if each.startswith("/")]:
        assert any(PurePosixPath(path).is_relative_to(folder) for folder in mounted), path
