"""A connection for whoever submits: a statement is repeated until it is answered.

A commit whose answer was lost may have happened, so only what is safe to repeat may be asked.
"""

import time
from typing import Any, LiteralString

import psycopg

PAUSE = 0.05


class Asking:
    """One connection, made again whenever it is lost."""

    def __init__(self, url: str, name: str) -> None:
        self._url = f"{url}?connect_timeout=3&application_name={name}"
        self._connection: psycopg.Connection[Any] | None = None

    def one(self, statement: LiteralString, *values: object) -> Any:
        """The only value of the only row, however often it takes."""
        [value] = self.row(statement, *values)
        return value

    def row(self, statement: LiteralString, *values: object) -> tuple[Any, ...]:
        """The only row, however often it takes."""
        while True:
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = psycopg.connect(self._url, autocommit=True)
                [row] = self._connection.execute(statement, values).fetchall()
            except psycopg.OperationalError:
                self.close()
                time.sleep(PAUSE)
            else:
                return row  # type: ignore[no-any-return]

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
