"""The image, built from the Containerfile and run as it is deployed: no root, no writing, no network."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

import switchyard
from tests.parts.cache import UnavailableError, tool
from tests.parts.need import need, obtain
from tests.parts.wheels import LOCK, ROOT, wheels

pytestmark = [
    pytest.mark.container,
    pytest.mark.timeout(900),  # hundreds of megabytes are copied, on whatever disk
]

BASE = os.environ.get("SWITCHYARD_TEST_BASE_IMAGE", "python:3.13-slim")
CONFINED = ["--rm", "--read-only", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges"]


def docker(*words: str | Path) -> str:
    """What it prints; its errors are the reason where it fails."""
    done = subprocess.run(
        [tool("docker"), *words],
        env={**os.environ, "DOCKER_BUILDKIT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise UnavailableError(f"docker {words[0]}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


@pytest.fixture(scope="module")
def offline_wheels() -> Path:
    """Those that fit the base's Python."""
    its = obtain(
        "Docker", lambda: docker("run", "--rm", BASE, "python3", "-c", "import sys; print(sys.version)")
    )
    if its.split(".")[:2] != sys.version.split(".")[:2]:
        need(
            "Wheels", f"the base image has Python {its.split()[0]}, the tests run on {sys.version.split()[0]}"
        )
    return obtain("Wheels", wheels)


@pytest.fixture(scope="module")
def image(offline_wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    context = tmp_path_factory.mktemp("image")
    (context / "dist").mkdir()
    hatchling = Path(sys.executable).parent / "hatchling"
    subprocess.run([hatchling, "build", "-t", "wheel", "-d", context / "dist"], cwd=ROOT, check=True)
    shutil.copy(LOCK, context)
    shutil.copytree(offline_wheels, context / "dist" / "wheels")
    name = f"switchyard-test-{uuid4().hex[:12]}"
    offline = ["--network=none", "--build-arg=PIP_NO_INDEX=1", "--build-arg=PIP_FIND_LINKS=/build/wheels"]
    build = ["build", "--quiet", *offline, f"--build-arg=BASE={BASE}", "-f", str(ROOT / "Containerfile")]
    try:
        # The first stage by name as well, so that it can be removed.
        docker(*build, "--target=build", "--tag", f"{name}:build", context)
        docker(*build, "--tag", f"{name}:latest", context)
        yield f"{name}:latest"
    finally:
        docker("rmi", "--force", f"{name}:latest", f"{name}:build")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("switchyard --version", switchyard.__version__),
        ("conductor --help", "conductor"),
        ("caboose --help", "caboose"),
        ("assessment --help", "assessment"),
        ("id --user", "10001"),
    ],
)
def test_it_runs_without_root_on_a_root_that_cannot_be_written(image: str, command: str, said: str) -> None:
    assert said in docker("run", *CONFINED, image, *command.split())


def test_nothing_of_its_making_is_left_in_it(image: str) -> None:
    """The second stage has what runs and nothing that built it."""
    assert (
        docker(
            "run",
            *CONFINED,
            image,
            "sh",
            "-c",
            "ls -d /build /opt/switchyard/bin/pip 2>/dev/null || true",
        )
        == ""
    )
    assert docker("image", "inspect", "--format", "{{.Config.User}}", image).strip() == "10001:10001"
