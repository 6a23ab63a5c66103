"""One database connection, for one task at a time, which is opened again when it was lost.

Advisory locks that a lost connection held are released by the server.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from psycopg import AsyncConnection
from psycopg.rows import AsyncRowFactory, class_row, dict_row

from switchyard.ledger.connect import connect
from switchyard.ledger.errors import unavailable
from switchyard.ledger.queries import query

Row = TypeVar("Row")


class Session:
    """Runs the named queries of `caboose.sql`."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._name = name
        self._connection: AsyncConnection[Any] | None = None

    async def close(self) -> None:
        """Close the connection; the server releases what it still holds."""
        if self._connection is not None:
            await self._connection.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Everything inside commits or rolls back together."""
        connection = await self._open()
        with unavailable():
            async with connection.transaction():
                yield

    async def rows(self, kind: type[Row], name: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a query; its rows as objects of that type."""
        return await self._execute(class_row(kind), name, values)

    async def dicts(self, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Run a query; its rows as dictionaries."""
        return await self._execute(dict_row, name, values)

    async def _execute(
        self, factory: AsyncRowFactory[Row], name: str, values: Mapping[str, Any]
    ) -> list[Row]:
        connection = await self._open()
        with unavailable():
            async with connection.cursor(row_factory=factory) as cursor:
                await cursor.execute(query("caboose", name), values)
                return await cursor.fetchall() if cursor.description else []

    async def _open(self) -> AsyncConnection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = await connect(self._url, application_name=self._name)
        return self._connection

    @asynccontextmanager
    async def closed_on_error(self) -> AsyncIterator[None]:
        """After an error with advisory locks the connection may hold unknown ones: close it."""
        try:
            yield
        except BaseException:
            await self.close()
            raise
