"""The handler's connection to the database: opened when it is needed, and again after it was lost.

All graphs of a conductor share it, so a statement that somebody's lock or trigger holds up ends soon.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, LiteralString

import psycopg
from psycopg import AsyncConnection

from switchyard.ledger.connect import connect
from switchyard.ledger.errors import translated

LIMITS = {"lock_timeout": "250ms", "statement_timeout": "10s"}


class LedgerConnection:
    """Runs one statement at a time, each a transaction."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._turn = asyncio.Lock()
        self._open: AsyncConnection | None = None

    async def row(self, statement: LiteralString, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """The first row of the result; errors are translated to ours."""
        async with self._turn:
            if self._open is None or self._open.closed:
                self._open = await connect(
                    self._url, application_name="switchyard conductor graphs", **LIMITS
                )
            try:
                cursor = await self._open.execute(statement, values)
                return await cursor.fetchone()
            except psycopg.Error as error:
                raise translated(error) from error
            except BaseException:  # cancelled in mid-statement: its answer must not be the next one's
                await self._open.close()
                raise

    async def close(self) -> None:
        """Close it."""
        if self._open is not None:
            await self._open.close()
