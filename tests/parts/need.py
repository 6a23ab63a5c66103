"""What to do where a real part cannot be had: skip on a person's machine, fail where all are required."""

import os
from typing import NoReturn

import pytest


def need(part: str, reason: str) -> NoReturn:
    """End the test for want of `part`; with SWITCHYARD_TEST_REQUIRE=all that is a failure."""
    message = f"{part} cannot be had here: {reason}"
    if os.environ.get("SWITCHYARD_TEST_REQUIRE") == "all":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
