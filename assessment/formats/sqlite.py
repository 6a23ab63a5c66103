"""Untrusted SQLite files: opened read-only, without extensions, triggers or trusted views."""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from switchyard.errors import BadInput

_SQL = Path(__file__).with_name("sql")
_WORD = re.compile("<([a-z]+)>")


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection; errors of SQLite become BadInput."""
    connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)
    try:
        connection.executescript(statement("guard"))
        connection.text_factory = _text
        yield connection
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter if SQLite's message quotes the file
        raise BadInput(f"{path.name} is not a valid SQLite file: {error}") from error
    finally:
        connection.close()


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"a text is not valid UTF-8: {raw[:40]!r}") from error


def statement(name: str, **words: str | Sequence[str]) -> str:
    """A statement from its .sql file; `<word>` is replaced by a quoted identifier or a list of them.

    All words are replaced in one pass: a table called `<columns>` stays a name and cannot inject SQL.
    """
    text = (_SQL / f"{name}.sql").read_text()
    return _WORD.sub(lambda found: _listed(words[found[1]]) if found[1] in words else found[0], text)


def _listed(names: str | Sequence[str]) -> str:
    return quoted(names) if isinstance(names, str) else ", ".join(quoted(name) for name in names)


def quoted(identifier: str) -> str:
    """A quoted identifier; safe for any content."""
    return '"' + identifier.replace('"', '""') + '"'


def tables(connection: sqlite3.Connection) -> list[str]:
    """The names of tables; views are excluded, since an untrusted view could run arbitrary expressions."""
    return [name for (name,) in connection.execute(statement("tables"))]


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(statement("columns", table=table))]
