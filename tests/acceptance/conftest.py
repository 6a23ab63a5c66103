"""What the tests of several spawned commands share."""

from pathlib import Path

import pytest

from tests.acceptance.assessment.conftest import start


@pytest.fixture(scope="session")
def region(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample region, made once by the command itself."""
    folder = tmp_path_factory.mktemp("region")
    made = start("bundle", "sample", folder)
    assert made.returncode == 0, made.stderr
    return folder
