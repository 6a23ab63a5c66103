"""Migrated databases: one per session is migrated, the tests use copies of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo


class Databases:
    """Copies of one migrated database, on the server at `url`, whose user may create databases."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._template = f"switchyard_test_{uuid4().hex[:12]}"  # others may use the same server
        self._made = 0

    def __enter__(self) -> "Databases":
        from switchyard.ledger.migrate import upgrade  # noqa: PLC0415 - Alembic takes half a second to import

        self._execute(sql.SQL("create database {}").format(sql.Identifier(self._template)))
        upgrade(self._url_of(self._template))
        return self

    def __exit__(self, *_: object) -> None:
        self._drop(self._template)

    @contextmanager
    def copy(self) -> Iterator[str]:
        """The URL of a fresh copy, which exists inside the block."""
        self._made += 1
        name = f"{self._template}_{self._made}"
        statement = sql.SQL("create database {} template {}")
        self._execute(statement.format(sql.Identifier(name), sql.Identifier(self._template)))
        try:
            yield self._url_of(name)
        finally:
            self._drop(name)

    def _drop(self, name: str) -> None:
        self._execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))

    def _url_of(self, name: str) -> str:
        return make_conninfo(self._url, dbname=name)

    def _execute(self, statement: sql.Composed) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(statement)
