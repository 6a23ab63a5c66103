"""`@yard.task`: submitted in the caller's transaction, called by the real conductor."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from switchyard import Switchyard
from switchyard.errors import BadInput
from switchyard.testing.plugin import _loaded
from switchyard.testing.yard import InProcessYard
from tests.integration.backends.python import shop
from tests.parts.database import Database

ACTIONS = {
    "price": {"type": "python", "function": f"{shop.__name__}:price", "concurrency": 1},
    "greeting": {"type": "python", "function": f"{shop.__name__}:greet", "concurrency": 1},
}


@pytest.fixture
def yard(database: Database, tmp_path: Path) -> Iterator[InProcessYard]:
    config = _loaded({"actions": ACTIONS}, database.url, tmp_path / "store")
    with InProcessYard(database.url, config) as made:
        yield made


def test_a_task_is_submitted_called_and_its_result_read(yard: InProcessYard, database: Database) -> None:
    with database.connect(autocommit=False) as connection:
        action = shop.price.submit_with({"connection": connection}, "spade", count=2)
    assert yard.run(action).status == "SUCCESSFUL"
    assert yard.results(action).output == {"result": shop.price("spade", 2)}


async def test_the_same_for_asyncio(yard: InProcessYard, database: Database) -> None:
    async with await psycopg.AsyncConnection.connect(database.url) as connection:
        action = await shop.greet.submit_with({"connection": connection}, name="Ann")
    assert yard.run(action).status == "SUCCESSFUL"
    assert yard.results(action).output == {"result": "hello Ann"}


def test_a_task_rolls_back_with_the_transaction(yard: InProcessYard, database: Database) -> None:
    with database.connect(autocommit=False) as connection:
        shop.price.submit_with({"connection": connection, "idempotency_key": "one"}, "spade")
        connection.rollback()
    assert yard.drain() == {}
    assert database.execute("select count(*) from switchyard.action") == [(0,)]


def test_parameters_that_do_not_fit_are_refused_here_and_invalid_there(yard: InProcessYard) -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'item'"):
        shop.price.submit(count=2)  # type: ignore[call-arg]
    thread = yard.run(yard.submit("price", {"count": 2}))
    assert thread.status == "INVALID"
    assert "missing a required argument: 'item'" in (thread.error or "")


def test_arguments_must_have_names() -> None:
    client = Switchyard()
    with pytest.raises(BadInput, match="cannot take words"):

        @client.task
        def speak(*words: str) -> None: ...

    with pytest.raises(BadInput, match="cannot take options"):

        @client.task(name="other")
        def listen(**options: str) -> None: ...
