"""What to do where a real part is not available: skip on a person's machine, fail where all are required."""

import os
from collections.abc import Callable
from typing import NoReturn, TypeVar

import pytest

from tests.parts.cache import UnavailableError

T = TypeVar("T")


def required() -> bool:
    """Whether every part has to be there, as in CI."""
    return os.environ.get("SWITCHYARD_TEST_REQUIRE") == "all"


def need(part: str, reason: str) -> NoReturn:
    """End the test for want of `part`; with SWITCHYARD_TEST_REQUIRE=all that is a failure."""
    message = f"{part} is not available here: {reason}"
    if required():
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def obtain(part: str, start: Callable[[], T]) -> T:
    """Start a part, or end the test for want of it."""
    try:
        return start()
    except UnavailableError as why:
        need(part, str(why))
