"""The database that a command talks to, and its errors in a sentence."""

import getpass
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import Connection
from psycopg.rows import DictRow, dict_row

from switchyard.config.config import Config
from switchyard.config.load import find, load
from switchyard.config.problems import InvalidConfig
from switchyard.errors import BadInput
from switchyard.ledger.connect import connect_sync
from switchyard.ledger.errors import translated

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
        raise translated(error) from error
    except UnicodeEncodeError as error:  # how Python tells of a word of the command line
        raise BadInput("a word of the command line is not UTF-8") from error


def actor() -> str:
    """Who acts, for the record."""
    return f"{getpass.getuser()}@{socket.gethostname()}"
