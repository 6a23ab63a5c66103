"""A pytest plugin for `make coverage`: measures spawned programs that are given an environment of their own too.

Coverage finds its way into child processes by an environment variable, and acceptance tests start the programs
with nothing in their environment but what a user would have there.
"""

import functools
import os
import subprocess
from collections.abc import Mapping
from typing import Any


def pytest_configure() -> None:
    measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    popen: Any = subprocess.Popen
    start = popen.__init__

    @functools.wraps(start)
    def start_measured(self: Any, *words: Any, env: Mapping[str, str] | None = None, **more: Any) -> None:
        start(self, *words, env=env if env is None else {**measured, **env}, **more)

    popen.__init__ = start_measured  # for the rest of this process, which ends with the tests
