"""The session's wire: large values, errors that leave it usable, bells at any time, and statements given up."""

import asyncio
import json
from collections.abc import AsyncIterator

import psycopg
import pytest

from conductor.session import jsonb
from conductor.session.arrays import Floats, Texts
from conductor.session.open import open_session
from conductor.session.session import Session, SessionLost
from tests.integration.conductor.yard import NAME, Yard
from tests.waiting import eventually

pytestmark = pytest.mark.database

# A statement takes as long as somebody else holds this lock.
HOLD = "select pg_advisory_lock(7)"
HELD_UP = (
    "select 1 from pg_locks join pg_database on pg_database.oid = database"
    " where locktype = 'advisory' and objid = 7 and not granted and datname = current_database()"
)


@pytest.fixture
async def session(yard: Yard) -> AsyncIterator[Session]:
    opened = await open_session(yard.database.url, NAME)
    yield opened
    await opened.close()


async def test_a_value_larger_than_any_socket_buffer_goes_there_and_back(session: Session) -> None:
    large = "ä" * 20_000_000
    [[back]] = await session.rows("select %(large)s::text", {"large": large})
    assert back == large


async def test_the_same_name_twice_and_a_percent_sign(session: Session) -> None:
    rows = await session.rows("select %(n)s::int %% 7, %(n)s::int + %(m)s::int", {"n": 10, "m": 1})
    assert rows == [(3, 11)]


async def test_values_of_other_types_under_the_same_statement(session: Session) -> None:
    statement = "select %(n)s::bigint"
    for n in (1, 70_000, 5_000_000_000, 2):
        assert await session.rows(statement, {"n": n}) == [(n,)]


@pytest.mark.parametrize("texts", [[], ["a"], [None], ["", None, "NULL", '"ä,\\{}', "x" * 70_000]])
async def test_texts_and_numbers_go_as_columns(session: Session, texts: list[str | None]) -> None:
    numbers = [None if text is None else len(text) / 3 for text in texts]
    values = {"texts": Texts.of(texts), "numbers": Floats.of(numbers)}
    rows = await session.rows("select %(texts)s::text[], %(numbers)s::double precision[]", values)
    assert rows == [(texts, numbers)]


async def test_documents_come_as_they_went(session: Session) -> None:
    documents: list[object] = [
        {},
        [],
        None,
        "ä\u2028\U0001f600",
        12345678901234567890,
        -1.5e-3,
        {"a": [{"b": None}, True, ""]},
    ]
    for document in documents:
        text = json.dumps(document)
        [[one, many]] = await session.rows(
            "select %(text)s::jsonb, array[%(text)s::jsonb, null, %(text)s::jsonb]", {"text": text}
        )
        assert jsonb.decoded(one) == document
        assert many == [one, None, one]


async def test_a_refused_statement_is_an_error_and_the_next_one_works(session: Session) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero):
        await session.rows("select 1 / %(n)s::int", {"n": 0})
    with pytest.raises(psycopg.errors.SyntaxError):
        await session.rows("selekt")
    assert await session.rows("select 1 / %(n)s::int", {"n": 1}) == [(1,)]
    assert session.lost is None


async def test_a_statement_that_is_given_up_ends_the_session_and_its_locks(
    yard: Yard, session: Session
) -> None:
    await session.rows("select pg_advisory_lock(6)")
    with yard.database.connect() as other:
        other.execute(HOLD)
        slow = asyncio.create_task(session.rows(HOLD))
        await eventually(lambda: yard.database.execute(HELD_UP))
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        with pytest.raises(SessionLost, match="given up"):
            await session.rows("select 1")
    await eventually(lambda: yard.ledger.locks() == 0)


async def test_bells_are_received_in_mid_statement_and_while_nothing_runs(
    yard: Yard, session: Session
) -> None:
    heard = 0

    def bell(_named: bytes) -> None:
        nonlocal heard
        heard += 1

    session.on_bell = bell
    await session.rows("listen drill")
    with yard.database.connect() as other:
        other.execute(HOLD)
        slow = asyncio.create_task(session.rows(HOLD))
        await eventually(lambda: yard.database.execute(HELD_UP))
        yard.database.execute("notify drill")
    await slow
    await eventually(lambda: heard == 1)
    yard.database.execute("notify drill")
    await eventually(lambda: heard == 2)


async def test_the_end_of_an_idle_connection_wakes_the_waiting(yard: Yard, session: Session) -> None:
    resting = asyncio.create_task(session.wait(asyncio.Event(), 600))
    await asyncio.sleep(0)
    yard.end_backends()
    with pytest.raises(SessionLost):
        await asyncio.wait_for(resting, 60)


async def test_closing_a_session_that_ended_does_not_deafen_the_one_that_got_its_socket(
    yard: Yard, session: Session
) -> None:
    """A worker closes what it lost some time after it lost it; by then the number may be another's."""
    number = session._connection.fileno()
    yard.database.execute("select pg_terminate_backend(%s)", session._connection.info.backend_pid)
    await eventually(lambda: session.lost)
    other = await open_session(yard.database.url, NAME)
    try:
        assert other._connection.fileno() == number, "the kernel gives the lowest number that is free"
        await session.close()
        async with asyncio.timeout(60):
            assert await other.rows("select 1") == [(1,)]
    finally:
        await other.close()


async def test_a_session_that_the_server_ended_is_lost_for_good(session: Session) -> None:
    assert session.lost is None
    with pytest.raises(SessionLost):
        await session.rows("select pg_terminate_backend(pg_backend_pid())")
    assert session.lost
    with pytest.raises(SessionLost):
        await session.rows("select 1")
