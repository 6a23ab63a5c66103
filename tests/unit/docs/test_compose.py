"""compose.yaml: its commands, settings and hosts are those of the programs, of its configuration and of each other."""

import re
import shutil
import subprocess
import tomllib
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from caboose.cli import COMMANDS as CABOOSE
from conductor.cli import COMMANDS as CONDUCTOR
from signalbox.cli import COMMANDS as SIGNALBOX
from switchyard.backends.sqs.model import SqsAction
from switchyard.cli import COMMANDS as SWITCHYARD
from switchyard.config.config import Config
from switchyard.config.load import load
from tests.acceptance.docs.blocks import ROOT

FILE = ROOT / "compose.yaml"
CONFIG = "/etc/switchyard/switchyard.yaml"
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(FILE.read_text())["services"]
OURS = {name: each for name, each in SERVICES.items() if each["image"] == "${SWITCHYARD_IMAGE:-switchyard}"}
DAEMONS = ("conductor", "caboose", "signalbox", "assessment")
PROGRAMS = {
    "switchyard": set(SWITCHYARD), "conductor": set(CONDUCTOR), "caboose": set(CABOOSE),
    "signalbox": set(SIGNALBOX), "assessment": {"work", "bundle", "run"},
}  # fmt: skip


def the_action() -> SqsAction:
    action = configured().actions["assessment"]
    assert isinstance(action, SqsAction)
    return action


def configured() -> Config:
    return load(ROOT / "config" / "compose" / "switchyard.yaml", OURS["conductor"]["environment"])


def mounts(service: dict[str, Any]) -> dict[str, str]:
    """What is mounted where; the options of a mount are left out."""
    return {target: source for source, target in (each.split(":")[:2] for each in service.get("volumes", ()))}


def test_every_program_runs_with_a_command_that_exists() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts.keys() == PROGRAMS.keys()
    assert {OURS[name]["command"][0] for name in DAEMONS} | {"switchyard"} == scripts.keys()
    words = [" ".join(each["command"]) for each in OURS.values()]
    called = re.findall(rf"\b({'|'.join(PROGRAMS)}) ([a-z]+)\b", " ".join(words))
    assert {("switchyard", "migrate"), ("switchyard", "submit"), ("assessment", "bundle")} <= set(called)
    assert [(program, verb) for program, verb in called if verb not in PROGRAMS[program]] == []


@pytest.mark.parametrize("name", [*DAEMONS, "migrate"])
def test_a_program_reads_the_configuration_that_is_mounted(name: str) -> None:
    service = OURS[name]
    assert service["command"][-2:] == ["-c", CONFIG]
    assert service["environment"]["SWITCHYARD_CONFIG"] == CONFIG
    assert (ROOT / mounts(service)[CONFIG]).is_file()


def test_every_mounted_file_and_volume_is_there() -> None:
    volumes = yaml.safe_load(FILE.read_text())["volumes"]
    for service in SERVICES.values():
        for source in mounts(service).values():
            assert (ROOT / source).is_file() if source.startswith("./") else source in volumes


def test_hosts_are_services() -> None:
    given = OURS["conductor"]["environment"]
    addresses = [
        given["DATABASE_URL"],
        given["AWS_ENDPOINT_URL_S3"],
        the_action().endpoint,
    ]
    assert [urlsplit(str(each)).hostname for each in addresses] == ["postgres", "objects", "queues"]
    command = SERVICES["objects"]["command"]
    assert f":{urlsplit(given['AWS_ENDPOINT_URL_S3']).port}" in command
    assert {given["AWS_ACCESS_KEY_ID"], given["AWS_SECRET_ACCESS_KEY"], given["AWS_REGION"]} <= set(command)
    user, password = SERVICES["postgres"]["environment"]["POSTGRES_USER"], urlsplit(given["DATABASE_URL"])
    assert (password.username, password.password) == (
        user,
        SERVICES["postgres"]["environment"]["POSTGRES_PASSWORD"],
    )
    assert password.path == f"/{SERVICES['postgres']['environment']['POSTGRES_DB']}"


def test_the_queues_and_the_bucket_of_the_configuration_are_made() -> None:
    action = the_action()
    made = re.findall(r"^  (\w+) \{", (ROOT / "config" / "compose" / "queues.conf").read_text(), re.MULTILINE)
    assert set(made) == {action.queue, action.status_queue}
    bucket = urlsplit(str(configured().store)).netloc
    assert f'Bucket="{bucket}"' in OURS["bucket"]["command"][-1]


def test_the_worker_finds_the_region_that_is_made() -> None:
    folder = "/var/lib/switchyard"
    assert mounts(OURS["assessment"])[folder] == mounts(OURS["reference"])[folder]
    assert f"assessment bundle sample {folder}/region" in OURS["reference"]["command"][-1]
    assert OURS["assessment"]["environment"]["SWITCHYARD_BUNDLE"] == f"{folder}/region/bundle"


def test_nothing_is_published_beyond_this_machine() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert published
    assert [port for port in published if not port.startswith("127.0.0.1:")] == []
    listened = configured().signalbox.listen.port
    assert any(port.endswith(f":{listened}") for port in SERVICES["signalbox"]["ports"])


@pytest.mark.parametrize("name", OURS)
def test_programs_run_as_the_image_is_meant_to(name: str) -> None:
    service = OURS[name]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["tmpfs"] == ["/tmp"]


def test_compose_accepts_it() -> None:
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("docker-compose is not installed")
    done = subprocess.run([program, "-f", FILE, "config", "-q"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
