"""`pip install switchyard` without extras: what it brings, what works, and what a missing extra is called."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.acceptance.packaging.test_wheel import BIN, ROOT, run, wheel
from tests.parts.database import Database

__all__ = ["wheel"]

MOST_PACKAGES = 15
MOST_BYTES = 40 * 1024 * 1024
HEAVY = ("pandas", "numpy", "pyarrow", "boto3", "kubernetes", "flask", "aiohttp", "sqlalchemy", "jinja2")
SEPARATE = "import sys, switchyard; print([name for name in sys.argv[1:] if name in sys.modules])"
USE = """
import sys
from switchyard import Switchyard
with Switchyard(sys.argv[1]) as yard:
    print(yard.status(yard.submit("hook", {"n": 1})).status)
"""


@pytest.fixture(scope="module")
def light(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment with the wheel and what it needs, pinned as we test it."""
    venv = tmp_path_factory.mktemp("light") / "venv"
    environ = {**os.environ, "VIRTUAL_ENV": str(venv)}
    uv = [str(BIN / "uv"), "--quiet"]
    subprocess.run([*uv, "venv", "--python", sys.executable, venv], check=True)
    install = [*uv, "pip", "install", "--constraint", str(ROOT / "requirements-runtime.lock"), str(wheel)]
    cached = subprocess.run([*install, "--offline"], env=environ, check=False)
    if cached.returncode:
        subprocess.run(install, env=environ, check=True)
    return venv / "bin"


def refused(*command: str | Path) -> str:
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 78, done.stdout + done.stderr
    return done.stderr


def test_newuser_18_it_is_small(light: Path) -> None:
    site = next(light.parent.glob("lib/python3*/site-packages"))
    packages = sorted(path.name for path in site.glob("*.dist-info"))
    size = sum(
        file.stat().st_size for file in site.rglob("*") if file.is_file() and "__pycache__" not in file.parts
    )
    assert len(packages) <= MOST_PACKAGES + 1, packages  # and the package itself
    assert size <= MOST_BYTES, size


def test_import_brings_nothing_heavy(light: Path) -> None:
    assert run(light / "python", "-c", SEPARATE, *HEAVY, "psycopg", "pydantic") == "[]\n"


MARGIN = 5  # for machines that are busy or slow


def effort(*command: str | Path) -> float:
    """Seconds of processor time of the cheapest of three runs: the first compiles, and other tests run beside it."""
    spent = []
    for _ in range(3):
        process = subprocess.Popen(command, cwd="/", stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, command
        spent.append(usage.ru_utime + usage.ru_stime)
    return min(spent)


def test_it_starts_at_once(light: Path, database: Database, tmp_path: Path) -> None:
    file = tmp_path / "switchyard.yaml"
    file.write_text(yaml.safe_dump({"database": {"url": database.url}}))
    assert effort(light / "python", "-c", "import switchyard") < 0.15 * MARGIN
    assert effort(light / "switchyard", "--help") < 0.3 * MARGIN
    for name in ("list", "inbox", "workers"):
        assert effort(light / "switchyard", "-c", file, name) < 0.5 * MARGIN, name


def test_newuser_19_the_python_api_works(light: Path, database: Database) -> None:
    assert run(light / "python", "-c", USE, database.url) == "PENDING\n"


def test_the_commands_that_submit_and_look_work(light: Path, database: Database, tmp_path: Path) -> None:
    file = tmp_path / "switchyard.yaml"
    file.write_text(
        yaml.safe_dump({"database": {"url": database.url}, "actions": {"hook": {"type": "http"}}})
    )
    command = (light / "switchyard", "-c", file)
    uuid = run(*command, "submit", "hook", "-p", '{"n": 1}').strip()
    assert uuid in run(*command, "list", "--json")
    for name in ("show", "events", "cancel"):
        options = ["--yes", "-m", "not needed"] if name == "cancel" else []
        run(*command, name, uuid, *options)
    assert "CANCELED" in run(*command, "show", uuid, "--json")
    for name in ("inbox", "workers", "verify", "pause", "resume"):
        run(*command, name, *(["hook", "-m", "a test"] if name in ("pause", "resume") else []))


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (("switchyard", "migrate"), "server"),
        (("switchyard", "up"), "server"),
        (("conductor", "run"), "server"),
        (("caboose", "run"), "server"),
        (("signalbox", "run"), "signalbox"),
        (("assessment", "--help"), "assessment"),
    ],
)
def test_a_command_names_the_extra_that_it_needs(light: Path, command: tuple[str, ...], extra: str) -> None:
    said = refused(light / command[0], *command[1:])
    assert f"pip install 'switchyard[{extra}]'" in said
    assert "Traceback" not in said
