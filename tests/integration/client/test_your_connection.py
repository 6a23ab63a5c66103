"""The Python API inside a caller's transaction: psycopg, SQLAlchemy and Django, blocking and asynchronous."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from switchyard import AsyncSwitchyard, Status, Submission, Switchyard
from switchyard.errors import BadInput
from tests.parts.database import Database


def count(database: Database) -> int:
    [(found,)] = database.execute("select count(*) from switchyard.action")
    return int(found)


def sqlalchemy_url(database: Database) -> URL:
    return make_url(database.url).set(drivername="postgresql+psycopg")


@pytest.fixture
def engine(database: Database) -> Iterator[Engine]:
    made = create_engine(sqlalchemy_url(database))
    yield made
    made.dispose()


@pytest.fixture
def django(database: Database) -> Iterator[Any]:
    """Django's default connection, to the test's database."""
    from django import setup
    from django.conf import settings
    from django.db import connections

    parts = urlsplit(database.url)
    found = {
        "ENGINE": "django.db.backends.postgresql", "NAME": parts.path.lstrip("/"), "HOST": parts.hostname,
        "PORT": parts.port, "USER": parts.username, "PASSWORD": parts.password or "",
    }  # fmt: skip
    if not settings.configured:
        settings.configure(DATABASES={"default": found}, USE_TZ=True)
        setup()
    connections.settings = {"default": connections.configure_settings({"default": found})["default"]}
    connection = connections["default"]
    yield connection
    connection.close()
    del connections["default"]


def test_a_psycopg_transaction(database: Database) -> None:
    with database.connect(autocommit=False) as connection:
        yard = Switchyard(connection)
        yard.submit("hook")
        connection.rollback()
        [first, second] = yard.submit_many([Submission("hook"), Submission("hook")])
        connection.commit()
        assert yard.status(first).status is Status.PENDING
        yard.close()
        assert not connection.closed
    assert second.version == 7
    assert count(database) == 2


async def test_an_asynchronous_psycopg_transaction(database: Database) -> None:
    async with await psycopg.AsyncConnection.connect(database.url) as connection:
        yard = AsyncSwitchyard(connection)
        await yard.submit("hook")
        await connection.rollback()
        await yard.submit("hook")
    assert count(database) == 1


def test_a_sqlalchemy_session_that_rolls_back_leaves_no_action(database: Database, engine: Engine) -> None:
    with Session(engine) as session:
        session.execute(text("create table orders (id int)"))
        session.commit()
        session.execute(text("insert into orders values (1)"))
        action = Switchyard(session).submit("hook", {"order": 1}, idempotency_key="o1")
        assert Switchyard(session).status(action).status is Status.PENDING
        session.rollback()
        assert count(database) == 0
        session.execute(text("insert into orders values (1)"))
        Switchyard(session).submit_many([Submission("hook", idempotency_key="o1"), Submission("hook")])
        session.commit()
    assert count(database) == 2


def test_a_connection_can_be_passed_for_one_submission(database: Database, engine: Engine) -> None:
    with Switchyard(database.url) as yard, engine.connect() as connection:
        action = yard.submit("hook", connection=connection)
        assert count(database) == 0
        connection.commit()
        assert [event.status for event in yard.events(action)] == []
        assert yard.cancel(action, reason="x")
    assert count(database) == 1


def test_an_error_inside_a_savepoint_leaves_the_session_usable(database: Database, engine: Engine) -> None:
    with Session(engine) as session:
        yard = Switchyard(session)
        yard.submit("hook", {"n": 1}, idempotency_key="k")
        with pytest.raises(BadInput, match="asked for something else"), session.begin_nested():
            yard.submit("hook", {"n": 2}, idempotency_key="k")
        session.commit()
    assert count(database) == 1


async def test_an_asynchronous_sqlalchemy_session(database: Database) -> None:
    engine = create_async_engine(sqlalchemy_url(database))
    async with AsyncSession(engine) as session:
        yard = AsyncSwitchyard(session)
        await yard.submit("hook")
        await session.rollback()
        action = await yard.submit("hook", {"n": 1})
        await yard.cancel(action, reason="x", actor="ann")
        [event] = await yard.events(action)
        assert event.detail is not None
        assert event.detail["actor"] == "ann"
        await session.commit()
    await engine.dispose()
    assert count(database) == 1


def test_a_django_transaction_that_rolls_back_leaves_no_action(database: Database, django: Any) -> None:
    from django.db import transaction

    yard = Switchyard(django)
    with transaction.atomic():
        yard.submit("hook")
        transaction.set_rollback(True)
    assert count(database) == 0
    with transaction.atomic():
        action = yard.submit("hook", {"n": 1}, idempotency_key="k")
        [same, _other] = yard.submit_many(
            [Submission("hook", {"n": 1}, idempotency_key="k"), Submission("hook")]
        )
        assert same == action
        with pytest.raises(BadInput, match="asked for something else"), transaction.atomic():
            yard.submit("hook", {"n": 2}, idempotency_key="k")
    assert count(database) == 2
    assert yard.cancel(action, reason="x", actor="ann")
    [event] = yard.events(action)
    assert (event.status, event.detail and event.detail["actor"]) == (Status.CANCELED, "ann")


def test_something_that_is_not_a_connection_is_refused() -> None:
    with pytest.raises(BadInput, match="dict is not a connection of psycopg, SQLAlchemy or Django"):
        Switchyard({}).status("01a1e5e9-0000-7000-8000-000000000000")
