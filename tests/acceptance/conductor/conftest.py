"""Spawned conductors, and a server that counts what they send."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conductor.counting import Counting, counting
from tests.acceptance.conductor.program import Fleet, fleet_of
from tests.parts.database import Database


@pytest.fixture
def fleet(tmp_path: Path, database: Database) -> Iterator[Fleet]:
    """Conductors of this test's own database."""
    with fleet_of(tmp_path, database) as made:
        yield made


@pytest.fixture
def counts() -> Iterator[Counting]:
    """A counting web server on loopback."""
    with counting() as made:
        yield made
