"""The yard: the engine's workers on the test's database. And a database whose server's clock can be set."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import closing

import pytest

from switchyard.ledger.migrate import upgrade
from tests.integration.conductor.yard import Yard, yard_of
from tests.parts.clock import Clock
from tests.parts.database import Database
from tests.parts.need import obtain
from tests.parts.postgres import Server, binaries


@pytest.fixture
async def yard(database: Database) -> AsyncIterator[Yard]:
    """Workers of the real engine; at the end all are stopped and no lock is left."""
    async with yard_of(database) as made:
        yield made


@pytest.fixture
def clock() -> Iterator[Clock]:
    """The clock of `server`."""
    with closing(obtain("a clock that can be set", Clock)) as made:
        yield made


@pytest.fixture
def server(clock: Clock) -> Iterator[Database]:
    """A server with that clock, and a migrated database on it."""
    with closing(Server(binaries("embedded"), {"fsync": "off"})) as made:
        made.process.env = {**os.environ, **clock.environ}
        made.start()
        upgrade(made.url())
        yield Database("postgres", made.url())
