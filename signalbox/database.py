"""Signalbox's connections: a pool, and one transaction per request under the caller's database role."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg import AsyncClientCursor, AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from signalbox.access.roles import Caller
from switchyard.errors import DatabaseUnavailable
from switchyard.ledger.connect import PIN, conninfo
from switchyard.ledger.queries import query

WAIT = 5.0
# Planning over the partitions of every day takes longer than the statement: it is done once per connection.
GENERIC = "set plan_cache_mode = force_generic_plan"
BECOME, ROLE = query("signalbox", "become"), query("signalbox", "role")
IMPATIENT, MIGRATED = query("signalbox", "impatient"), query("signalbox", "migrated")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that returns one row, and the caller that it runs for."""

    caller: Caller
    text: LiteralString
    values: Mapping[str, Any]


class Refused(Exception):  # noqa: N818 - what the database did
    """The database refused a whole message: none of its statements was committed."""

    def __init__(self, error: psycopg.Error | UnicodeEncodeError) -> None:
        super().__init__(str(error))
        self.error = error


class Database:
    """The pool; it reconnects by itself, so that while the database is unavailable only requests fail."""

    def __init__(self, url: str, connections: int) -> None:
        # A standby is enough for requests that only read.
        address = make_conninfo(
            conninfo(url, "signalbox", statement_timeout="15s"), target_session_attrs="any"
        )
        self._pool = AsyncConnectionPool(
            address,
            connection_class=AsyncConnection[DictRow],
            kwargs={"autocommit": True, "row_factory": dict_row, "prepare_threshold": 1},
            min_size=1,
            max_size=connections,
            configure=_configure,
            open=False,
            reconnect_timeout=30.0,
            name="signalbox",
        )

    async def open(self) -> None:
        """Start to connect; does not wait for the database."""
        await self._pool.open(wait=False)

    async def renew(self) -> None:
        """Replace all connections, and with them their prepared statements."""
        await self._pool.drain()

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close(timeout=5.0)

    @asynccontextmanager
    async def transaction(self, caller: Caller) -> AsyncIterator[AsyncConnection[DictRow]]:
        """One transaction, with only the privileges of the caller's role."""
        async with self._connection() as connection:
            await _at_once(connection, BECOME, _named(caller))
            yield connection

    async def once(self, statement: Statement) -> DictRow:
        """The single row of a statement."""
        async with self._connection() as connection:
            [row] = await _rows(connection, [statement], patient=True)
        return row

    async def together(self, statements: Sequence[Statement]) -> list[DictRow]:
        """The single row of each, in one transaction that waits only briefly; `Refused` if one fails."""
        async with self._connection() as connection:
            try:
                return await _rows(connection, statements, patient=False)
            except (
                psycopg.Error,
                UnicodeEncodeError,
            ) as error:  # the latter is raised before anything was sent
                if connection.closed:
                    raise
                raise Refused(error) from error

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection[DictRow]]:
        """A connection of the pool, which ends its transaction when it is returned."""
        try:
            async with self._pool.connection(timeout=WAIT) as connection:
                yield connection
        except PoolTimeout as error:
            raise DatabaseUnavailable("no connection to the database was free in time") from error

    async def ready(self) -> bool | str:
        """Whether the database answers and is migrated."""
        try:
            async with self._pool.connection(timeout=0.7) as connection:
                row = await (await connection.execute(MIGRATED)).fetchone()
        except (psycopg.Error, PoolTimeout) as error:
            return f"the database does not answer: {type(error).__name__}"
        assert row is not None
        return True if row["migrated"] else "the database is not migrated: run `switchyard migrate`"


def plan_changed(error: psycopg.Error) -> bool:
    """Whether a migration changed what a prepared statement returns, on all connections that have it.

    Postgres reports this with the code "feature not supported" and a message in the server's language.
    """
    return error.diag.source_function == "RevalidateCachedQuery"


def _named(caller: Caller) -> dict[str, str]:
    return {"role": caller.database_role, "caller": caller.name}


async def _at_once(
    connection: AsyncConnection[DictRow], text: LiteralString, values: Mapping[str, Any]
) -> AsyncClientCursor[DictRow]:
    """Several statements in one message: the values become part of the text, quoted by libpq."""
    return await AsyncClientCursor(connection).execute(text, values)


async def _rows(
    connection: AsyncConnection[DictRow], statements: Sequence[Statement], *, patient: bool
) -> list[DictRow]:
    """One message and transaction, in which each statement has its caller's role."""
    cursor = AsyncClientCursor(connection)
    parts = [] if patient else [IMPATIENT]
    for each in statements:
        parts += [cursor.mogrify(ROLE, _named(each.caller)), cursor.mogrify(each.text, each.values)]
    await cursor.execute(";".join(parts).encode())
    rows: list[DictRow] = []
    for place in range(1 if patient else 2, len(parts), 2):
        await cursor.set_result(place)
        rows += await cursor.fetchall()
    return rows


async def _configure(connection: AsyncConnection[DictRow]) -> None:
    await connection.execute(PIN)
    await connection.execute(GENERIC)
