"""Conductors, a caboose and a feeder as they are deployed, killed while they work."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.sets.killing import Killing
from tests.parts.database import Database


@pytest.fixture
def killing(database: Database, tmp_path: Path) -> Iterator[Killing]:
    """Not started yet; whatever it spawned is ended afterwards."""
    made = Killing(database, tmp_path)
    yield made
    made.close()
