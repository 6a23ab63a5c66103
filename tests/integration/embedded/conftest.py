import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from switchyard.embedded.postgres import EmbeddedPostgres


@pytest.fixture
def place() -> Iterator[Path]:
    """A private folder that goes away. Not pytest's: as root we open what is above a server to its group."""
    folder = Path(tempfile.mkdtemp(prefix="sy-"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A server's folder with data in it, and no server running; each test leaves it that way."""
    above = Path(tempfile.mkdtemp(prefix="sy-"))
    with EmbeddedPostgres(above / "pg"):
        pass
    yield above / "pg"
    shutil.rmtree(above)


@pytest.fixture(scope="session")
def outsider() -> dict[str, Any]:
    """How a process becomes somebody who is not root, with a Python that they may run."""
    if os.geteuid() != 0:
        return {}
    packages = [str(Path(__file__).parents[3]), sysconfig.get_path("purelib")]
    become = {"user": 65534, "group": 65534, "env": {**os.environ, "PYTHONPATH": ":".join(packages)}}
    for python in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        if _runs(python, become):
            return {**become, "executable": python}
    pytest.skip("this Python, or the checkout, is private to root, and there is no other to try it with")


def _runs(python: str, become: dict[str, Any]) -> bool:
    try:
        done = subprocess.run(
            [python, "-c", "import switchyard.embedded.postgres"], check=False, cwd="/", **become
        )
    except OSError:  # not there, or private
        return False
    return done.returncode == 0
