"""A spool in a temporary folder, and executions started in it by the real supervisor."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from switchyard.backends.local.launch import Launched, launch
from switchyard.backends.local.spool import folder
from switchyard.backends.local.spool.state import Life, State, look
from switchyard.execution import name_of
from tests.waiting import until

Run = Callable[..., Awaitable[Path]]


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    root = tmp_path / "spool"
    root.mkdir()
    return root


@pytest.fixture
def run(spool: Path) -> Run:
    """Start `python -c code` in a new folder of the spool."""

    async def start(code: str, uuid: UUID | None = None, **job: Any) -> Path:
        path = folder.make(spool, name_of(uuid or uuid4(), 1))
        assert await launch(path, job_of(code, **job)) is Launched.STARTED
        return path

    return start


def job_of(code: str, **job: Any) -> dict[str, Any]:
    """A job that runs a line of Python, with small limits."""
    defaults = {"environment": {"MARK": "x"}, "grace": 5.0, "output_limit": 100_000}
    return {"argv": [sys.executable, "-S", "-c", code], **defaults, **job}


def ended(path: Path) -> State:
    """The execution's state once it is over."""
    until(lambda: look(path).life not in {Life.RUNNING, Life.UNSTARTED})
    return look(path)
