"""SQLite files from strangers: opened read-only, without extensions, triggers or views being trusted."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from switchyard.errors import BadInput

_SQL = Path(__file__).with_name("sql")


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that can only read; whatever SQLite has against the file becomes a BadInput."""
    connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)
    try:
        connection.executescript(statement("guard"))
        connection.text_factory = _text
        yield connection
    except sqlite3.Error as error:
        raise BadInput(f"{path.name} is not a sound SQLite file: {error}") from error
    finally:
        connection.close()


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"a text is not valid UTF-8: {raw[:40]!r}") from error


def statement(name: str, **identifiers: str) -> str:
    """A statement from its .sql file; `<word>` in it stands for an identifier, which is quoted here."""
    text = (_SQL / f"{name}.sql").read_text()
    for word, identifier in identifiers.items():
        text = text.replace(f"<{word}>", quoted(identifier))
    return text


def quoted(identifier: str) -> str:
    """An identifier that stays one, whatever is in it."""
    if "\0" in identifier:
        raise BadInput("a name in the SQLite file has a NUL in it")
    return '"' + identifier.replace('"', '""') + '"'


def tables(connection: sqlite3.Connection) -> list[str]:
    """Real tables only: a view from a stranger is a program."""
    return [name for (name,) in connection.execute(statement("tables"))]


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(statement("columns", table=table))]


def selected(names: list[str]) -> str:
    """Column names for a select list."""
    return ", ".join(quoted(name) for name in names)
