"""A pytest plugin: how long each test took, and which did not pass, as JSON in $MUTANTS_DURATIONS."""

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

_seconds = defaultdict[str, float](float)
_failed = set[str]()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] += report.duration
    if not report.passed:
        _failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    passed = {test: seconds for test, seconds in _seconds.items() if test not in _failed}
    Path(os.environ["MUTANTS_DURATIONS"]).write_text(json.dumps(passed))
