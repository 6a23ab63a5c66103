"""One database connection for one task at a time; reopened after it was lost.

Advisory locks that a lost connection held are released by the server.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import AsyncRowFactory, class_row, dict_row, tuple_row

from switchyard.errors import ConfigError, DatabaseUnavailable, Transient
from switchyard.ledger.connect import connect
from switchyard.ledger.errors import is_blocked, translated
from switchyard.ledger.queries import query

Row = TypeVar("Row")

# Short: a row that another transaction has locked delays only itself, and is tried again.
LOCK_TIMEOUT = "500ms"
# Users may have triggers on these tables: whatever one raises is about a row, not about the schema.
_WRITES = frozenset({"insert_events", "insert_callbacks", "callbacks_made"})


class RowBusy(Transient):
    """A row is locked by another transaction, or a statement timed out; the connection is fine."""


class Session:
    """Runs the named queries of `caboose.sql`."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._name = name
        self._connection: AsyncConnection[Any] | None = None

    @property
    def session(self) -> object | None:
        """The open connection, to compare with an earlier one; None where there is none."""
        return None if self._connection is None or self._connection.closed else self._connection

    async def close(self) -> None:
        """Close the connection; the server releases what it still holds."""
        if self._connection is not None:
            await self._connection.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Everything inside commits or rolls back together."""
        connection = await self._open()
        with _ours():
            async with connection.transaction():
                yield

    async def rows(self, kind: type[Row], name: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a query; its rows as objects of that type."""
        return await self._execute(class_row(kind), query("caboose", name), values, writes=name in _WRITES)

    async def dicts(self, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Run a query; its rows as dictionaries."""
        return await self._execute(dict_row, query("caboose", name), values, writes=name in _WRITES)

    async def run(self, statement: LiteralString, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run a statement of another file; its rows as tuples."""
        return await self._execute(tuple_row, statement, values)

    async def _execute(
        self,
        factory: AsyncRowFactory[Row],
        statement: LiteralString,
        values: Mapping[str, Any],
        *,
        writes: bool = False,
    ) -> list[Row]:
        connection = await self._open()
        with _ours(writes=writes):
            async with connection.cursor(row_factory=factory) as cursor:
                await cursor.execute(statement, values)
                return await cursor.fetchall() if cursor.description else []

    async def _open(self) -> AsyncConnection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = await connect(
                self._url, application_name=self._name, lock_timeout=LOCK_TIMEOUT
            )
        return self._connection

    @asynccontextmanager
    async def closed_on_error(self) -> AsyncIterator[None]:
        """Close the connection after an error with advisory locks: it may hold unknown ones."""
        try:
            yield
        except BaseException:
            await self.close()
            raise


@contextmanager
def _ours(*, writes: bool = True) -> Iterator[None]:
    """Translate errors of the server or of locks to ours; data errors stay psycopg's."""
    try:
        yield
    except psycopg.Error as error:
        ours = translated(error)
        if is_blocked(error):
            raise RowBusy(str(ours)) from error
        if isinstance(ours, DatabaseUnavailable) or (isinstance(ours, ConfigError) and not writes):
            raise ours from error
        raise
