"""The whole yard of the campaign, for tests."""

from collections.abc import Iterator

import pytest

from tests.faults.yard import Yard, yard


@pytest.fixture
def fault_yard() -> Iterator[Yard]:
    """Running, with every part that is available here."""
    with yard() as running:
        yield running
