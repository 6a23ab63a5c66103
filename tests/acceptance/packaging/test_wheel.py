"""The wheel, installed into an empty environment without any of the tools."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

import switchyard
from tests.parts.postgres import Postgres

ROOT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent
PROGRAMS = ["switchyard", "conductor", "caboose", "assessment", "signalbox"]
MIGRATE = "import sys; from switchyard.ledger.migrate import upgrade; upgrade(sys.argv[1])"
IMPORT_ALL = """
import importlib, pkgutil
for name in ("switchyard", "conductor", "caboose", "assessment", "signalbox"):
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, f"{name}."):
        if module.name == "assessment.frames":
            continue  # for notebooks: needs geopandas, of the extra `notebook`, which is not in `all`
        if not module.name.endswith(("__main__", "testing.plugin")) and ".migrations" not in module.name:
            importlib.import_module(module.name)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([BIN / "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of a new environment; from the cache, so the network may be cut."""
    venv = tmp_path_factory.mktemp("installed") / "venv"
    environ = {**os.environ, "VIRTUAL_ENV": str(venv)}
    uv = [str(BIN / "uv"), "--quiet"]
    pinned = ["--require-hashes", "-r", str(ROOT / "requirements-runtime.lock")]
    subprocess.run([*uv, "venv", "--python", sys.executable, venv], check=True)
    cached = subprocess.run([*uv, "pip", "install", "--offline", *pinned], env=environ, check=False)
    if cached.returncode:
        subprocess.run([*uv, "pip", "install", *pinned], env=environ, check=True)
    subprocess.run([*uv, "pip", "install", "--offline", "--no-deps", wheel], env=environ, check=True)
    return venv / "bin"


@pytest.fixture
def empty_database(postgres: Postgres) -> Iterator[str]:
    name = f"wheel_{uuid4().hex[:12]}"

    def admin(statement: LiteralString) -> None:
        with psycopg.connect(postgres.url(), autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(name)))

    admin("create database {}")
    yield postgres.url(name)
    admin("drop database {} with (force)")


def run(*command: str | Path) -> str:
    """Somewhere else, and without the checkout in sight."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd="/", env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_everything_is_in_it(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    packages = ("switchyard", "conductor", "caboose", "assessment", "signalbox")
    for path in subprocess.check_output(["git", "ls-files", *packages], cwd=ROOT, text=True).splitlines():
        assert path in names
    for path in subprocess.check_output(["git", "ls-files", "migrations"], cwd=ROOT, text=True).splitlines():
        assert f"switchyard/{path}" in names
    for package in packages:
        assert f"{package}/py.typed" in names
    assert any(name.startswith("switchyard/ledger/queries/") and name.endswith(".sql") for name in names)


def test_nothing_else_is_in_it(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    info = f"switchyard-{switchyard.__version__}.dist-info"
    assert tops == {"switchyard", "conductor", "caboose", "assessment", "signalbox", info}


def test_the_version_comes_from_one_place(installed: Path) -> None:
    assert switchyard.__version__ in run(installed / "switchyard", "--version")


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_commands_and_their_module_forms(installed: Path, program: str) -> None:
    by_name = run(installed / program, "--help")
    by_module = run(installed / "python", "-m", program, "--help")
    assert "Usage" in by_name
    assert "Usage" in by_module


def test_no_module_needs_what_is_not_shipped(installed: Path) -> None:
    run(installed / "python", "-W", "error::DeprecationWarning:switchyard", "-c", IMPORT_ALL)


def test_it_migrates_from_its_own_files(installed: Path, empty_database: str) -> None:
    run(installed / "python", "-c", MIGRATE, empty_database)
    with psycopg.connect(empty_database) as connection:
        assert connection.execute("select count(*) from switchyard.verify()").fetchone() == (0,)


def test_up_runs_the_sample_from_its_own_files(installed: Path, tmp_path: Path) -> None:
    said = run(installed / "switchyard", "up", "--once", "--folder", tmp_path / "place")
    report = re.search(r"report and map +(\S+)", said)
    assert report, said
    assert "<svg" in Path("/", report[1]).read_text()


def pins(lock: str) -> dict[str, tuple[str, frozenset[str]]]:
    """Package -> version and hashes."""
    found = {}
    for entry in re.split(r"\n(?=\S)", (ROOT / lock).read_text()):
        name, _, rest = entry.partition("==")
        found[name.strip()] = (rest.split()[0].rstrip(";"), frozenset(re.findall(r"sha256:\w+", entry)))
    return found


def test_what_is_shipped_is_pinned_as_what_was_tested() -> None:
    tested, shipped = pins("requirements.lock"), pins("requirements-runtime.lock")
    assert len(shipped) > 40
    for name, pin in shipped.items():
        assert tested[name] == pin
    assert "pytest" not in shipped
