"""Functions, views, triggers and grants as this version has them, applied in the transaction of a migration.

Replacing a function or a grant locks nobody out, and triggers are created where they are missing. Replacing a
view shuts out its readers until the transaction ends, so a view is replaced only where it differs from what
the database has, whoever changed it. All views are locked before the first is replaced, outermost first, as
readers lock them: in another order, a reader and a migration would wait for each other.
"""

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import psycopg

from switchyard.ledger.queries import query

_LAST = "grants.sql"
_VIEW = re.compile(r"^create or replace view (?=switchyard\.)(.+?);$", re.MULTILINE | re.DOTALL)


def files(folder: Path) -> list[Path]:
    """In the order of their names; grants need everything to be there."""
    return sorted(folder.glob("*.sql"), key=lambda file: (file.name == _LAST, file.name))


def fingerprint(folder: Path) -> str:
    """Of all of them."""
    return sha256(b"".join(file.read_bytes() for file in files(folder))).hexdigest()


def apply(connection: psycopg.Connection, folder: Path) -> None:
    """All that differs, and remember which version the database has now."""
    locked = False
    for file in files(folder):
        for statement, view in _statements(file.read_text()):
            if view is not None:
                if not _differs(connection, view):
                    continue
                if not locked:
                    connection.execute(query("migrate", "lock_views"))
                    locked = True
            connection.execute(statement.encode())
    connection.execute(query("migrate", "apply"), {"definitions": fingerprint(folder)})


def _statements(text: str) -> Iterator[tuple[str, str | None]]:
    """A file in pieces; with each view its name and definition."""
    done = 0
    for match in _VIEW.finditer(text):
        yield text[done : match.start()], None
        yield match[0], match[1]
        done = match.end()
    yield text[done:], None


def _differs(connection: psycopg.Connection, view: str) -> bool:
    """Whether the database has no such view, or another one; Postgres compares, for it writes both alike."""
    name, definition = view.split(" ", 1)
    exists = connection.execute(query("migrate", "view_exists"), {"view": name}).fetchone()
    if exists is None:
        return True
    connection.execute(f"create view switchyard.migrate_candidate {definition}".encode())
    [[differs]] = connection.execute(query("migrate", "view_differs"), {"view": name}).fetchall()
    connection.execute(query("migrate", "drop_candidate"))
    return bool(differs)
