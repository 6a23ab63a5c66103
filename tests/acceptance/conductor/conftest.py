"""Spawned conductors, and a server that counts what they send."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.conductor.counting import Counting, counting
from tests.deployment.deployment import Deployment
from tests.parts.database import Database


@pytest.fixture
def deployment(tmp_path: Path, database: Database) -> Iterator[Deployment]:
    """On this test's own database; nothing runs yet."""
    with closing(Deployment(database, tmp_path)) as made:
        yield made


@pytest.fixture
def counts() -> Iterator[Counting]:
    """A counting web server on loopback."""
    with counting() as made:
        yield made
