"""Applies this version's functions, views, triggers and grants in the transaction of a migration.

Replacing a function or a grant blocks nothing, and triggers are created only if they are missing. Replacing a
view blocks its readers until the transaction ends. So a view is replaced only if it differs from the one in
the database, or if it reads one that is replaced; and only after everything else,
so that its readers wait only for the views. They are locked outermost first, as readers lock them: in
another order, a reader and a migration would wait for each other.
"""

import re
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import psycopg
from psycopg import sql

from switchyard.ledger.queries import query

_LAST = "grants.sql"
_VIEW = re.compile(r"^create or replace view (?=switchyard\.)(.+?);$", re.MULTILINE | re.DOTALL)


PATIENCE = (
    0.05  # seconds; as long again is for the work under the lock, so that nobody waits for more than 100 ms
)


def wait_at_most(connection: psycopg.Connection, seconds: float) -> None:
    """Set the lock timeout of this transaction: a waiting lock request blocks all later ones."""
    connection.execute(query("migrate", "patience"), {"within": f"{seconds * 1000:.0f}ms"})


def files(folder: Path) -> list[Path]:
    """The files in the order of their names; grants come last, because they need everything else."""
    return sorted(folder.glob("*.sql"), key=lambda file: (file.name == _LAST, file.name))


def fingerprint(folder: Path) -> str:
    """A hash of all files."""
    return sha256(b"".join(file.read_bytes() for file in files(folder))).hexdigest()


def apply(connection: psycopg.Connection, folder: Path) -> None:
    """Apply everything that differs, and record the version that the database has now."""
    late: dict[str, str] = {}
    for file in files(folder):
        for statement, view in _statements(file.read_text()):
            name = view.split(" ", 1)[0] if view else None
            if view is None or name is None or not _is_there(connection, name):
                connection.execute(statement.encode())
            elif _differs(connection, name, view) or _reads(connection, name, list(late)):
                late[name] = statement
                # Functions may use columns that it does not have yet.
                connection.execute(query("migrate", "unchecked"))
    connection.execute(query("migrate", "apply"), {"definitions": fingerprint(folder)})
    _replace(connection, late)


def _replace(connection: psycopg.Connection, views: dict[str, str]) -> None:
    """Replace views; from here to the end of the transaction, their readers wait."""
    order = connection.execute(query("migrate", "lock_order"), {"views": list(views)}).fetchall()
    began = time.monotonic()
    for name, owner in order:
        wait_at_most(connection, max(PATIENCE - (time.monotonic() - began), 0.001))
        # Changes nothing. LOCK TABLE would lock the tables behind the view too.
        connection.execute(sql.SQL("alter view {} owner to {}").format(sql.SQL(name), sql.Identifier(owner)))
    for statement in views.values():
        connection.execute(statement.encode())


def _statements(text: str) -> Iterator[tuple[str, str | None]]:
    """The statements of a file; for each view also its name and definition."""
    done = 0
    for match in _VIEW.finditer(text):
        yield text[done : match.start()], None
        yield match[0], match[1]
        done = match.end()
    yield text[done:], None


def _is_there(connection: psycopg.Connection, view: str) -> bool:
    return connection.execute(query("migrate", "view_exists"), {"view": view}).fetchone() is not None


def _differs(connection: psycopg.Connection, name: str, view: str) -> bool:
    """Whether the database has a different view; compared as Postgres prints both."""
    try:
        with connection.transaction():
            definition = view.removeprefix(f"{name} ")
            connection.execute(f"create view switchyard.migrate_candidate {definition}".encode())
    except psycopg.errors.UndefinedColumn:  # of a view that is still to be replaced
        return True
    [[differs]] = connection.execute(query("migrate", "view_differs"), {"view": name}).fetchall()
    connection.execute(query("migrate", "drop_candidate"))
    return bool(differs)


def _reads(connection: psycopg.Connection, view: str, others: list[str]) -> bool:
    values = {"view": view, "others": others}
    [[reads]] = connection.execute(query("migrate", "view_reads"), values).fetchall()
    return bool(reads)
