"""The database that a command talks to, and its errors in a sentence."""

import getpass
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import Connection, errors
from psycopg.rows import DictRow, dict_row

from switchyard.config.config import Config
from switchyard.config.load import find, load
from switchyard.config.problems import InvalidConfig
from switchyard.errors import BadInput, DatabaseUnavailable, SwitchyardError
from switchyard.ledger.connect import connect_sync

Rows = Connection[DictRow]


def config_or_default(path: Path | None) -> Config:
    """The configuration; where none was asked for and none is there, the defaults and libpq's PG*."""
    if path is None:
        try:
            find(None, os.environ)
        except InvalidConfig:
            return Config()
    return load(path)


@contextmanager
def connected(path: Path | None, url: str | None = None) -> Iterator[Rows]:
    """A connection whose errors become ours; to the configuration's database, unless a URL is given."""
    url = config_or_default(path).database.conninfo() if url is None else url
    connection = connect_sync(url, application_name="switchyard command")
    connection.row_factory = dict_row  # type: ignore[assignment]
    try:
        with connection:
            yield connection  # type: ignore[misc]
    except psycopg.Error as error:
        raise explained(error) from error
    except UnicodeEncodeError as error:  # how Python tells of a word of the command line
        raise BadInput("a word of the command line is not UTF-8") from error


def explained(error: psycopg.Error) -> SwitchyardError:
    """What the server said, as one of our errors."""
    text = (error.diag.message_primary or str(error)).strip()
    if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName | errors.UndefinedFunction):
        return SwitchyardError(
            f"{text}\nThis database has no ledger of this version: run `switchyard migrate`."
        )
    if isinstance(error, errors.InsufficientPrivilege):
        return SwitchyardError(
            f"{text}\nThis user lacks a role: grant one of switchyard_reader, _submitter, _admin."
        )
    if isinstance(error, psycopg.DataError | psycopg.IntegrityError | psycopg.ProgrammingError):
        return BadInput(text)
    if isinstance(error, psycopg.OperationalError):
        return DatabaseUnavailable(text)
    return SwitchyardError(text)


def actor() -> str:
    """Who acts, for the record."""
    return f"{getpass.getuser()}@{socket.gethostname()}"
