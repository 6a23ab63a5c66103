"""The yard: the engine's workers on the test's database."""

from collections.abc import AsyncIterator

import pytest

from tests.integration.conductor.yard import Yard, yard_of
from tests.parts.database import Database


@pytest.fixture
async def yard(database: Database) -> AsyncIterator[Yard]:
    """Workers of the real engine; at the end all are stopped and no lock is left."""
    async with yard_of(database) as made:
        yield made
