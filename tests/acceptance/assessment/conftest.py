"""The `assessment` command as people and programs start it: a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def start(
    *arguments: object, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assessment", *map(str, arguments)]
    clean = {key: value for key, value in os.environ.items() if not key.startswith("SWITCHYARD_")}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        env={**clean, **(env or {})},
        cwd=cwd,
        check=False,
    )


@pytest.fixture
def assessment() -> Run:
    return start
