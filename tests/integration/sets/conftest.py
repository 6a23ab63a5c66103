"""The ledger of one test."""

from collections.abc import Iterator

import pytest

from tests.integration.ledger.ledger import Ledger
from tests.parts.database import Database


@pytest.fixture
def ledger(database: Database) -> Iterator[Ledger]:
    with database.connect() as connection:
        yield Ledger(database, connection)
