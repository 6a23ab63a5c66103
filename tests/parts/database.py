"""A fresh, migrated database for each test, cloned from a template that is migrated once a session."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
from psycopg import sql

from switchyard.ledger.migrate import upgrade
from tests.parts.postgres import Postgres

_number = count(1)


@dataclass(frozen=True)
class Database:
    """One test's own database."""

    name: str
    url: str

    def connect(self, *, autocommit: bool = True, **options: Any) -> psycopg.Connection[tuple[Any, ...]]:
        """A new connection; the caller closes it, or the end of the test cuts it off."""
        return psycopg.connect(self.url, autocommit=autocommit, **options)

    def execute(self, statement: LiteralString, *values: object) -> list[tuple[Any, ...]]:
        """One statement on a connection of its own; its rows, if it gives any."""
        with self.connect() as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []


class Template:
    """The migrated database that the tests' databases are copies of."""

    def __init__(self, server: Postgres) -> None:
        self.server = server
        self.prefix = f"t{uuid4().hex[:8]}"  # a server that is not ours may serve several sessions
        self._name: str | None = None

    def name(self) -> str:
        """Its name; the first call makes and migrates it."""
        if self._name is None:
            name = f"{self.prefix}_template"
            self._admin("create database {}", name)
            upgrade(self.server.url(name))
            self._admin("alter database {} with allow_connections false", name)
            self._name = name
        return self._name

    @contextmanager
    def clone(self) -> Iterator[Database]:
        """A copy of the template for as long as the block lasts."""
        template, name = self.name(), f"{self.prefix}_{next(_number)}"
        self._admin("create database {} template {} strategy file_copy", name, template)
        try:
            yield Database(name, self.server.url(name))
        finally:
            self._admin("drop database if exists {} with (force)", name)

    def drop(self) -> None:
        if self._name is not None:
            self._admin("drop database {}", self._name)

    def _admin(self, statement: LiteralString, *names: str) -> None:
        with psycopg.connect(self.server.url(), autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
