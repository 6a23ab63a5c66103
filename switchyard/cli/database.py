"""The configuration and the database of a command, with database errors as messages."""

import getpass
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.rows import DictRow, dict_row
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import set_json_loads

from switchyard.config.config import Config
from switchyard.config.load import find, load, not_found
from switchyard.config.problems import InvalidConfig
from switchyard.errors import BadInput, ConfigError, DatabaseUnavailable
from switchyard.ledger.connect import connect_sync
from switchyard.ledger.errors import translated

Rows = Connection[DictRow]

_NO_FILE = Config()


def configured(path: Path | None) -> Config:
    """The configuration; without a file, the defaults, which leave the database to libpq's PG* variables."""
    if path is None:
        try:
            find(None, os.environ)
        except InvalidConfig:
            return _NO_FILE
    return load(path)


@contextmanager
def connected(config: Config, url: str | None = None) -> Iterator[Rows]:
    """A connection to the configured database, or to a URL."""
    connection = _connect(config, config.database.conninfo() if url is None else url)
    try:
        with connection:
            yield connection
    except psycopg.Error as error:
        raise translated(error) from error
    except UnicodeEncodeError as error:  # an argument of the command line that Python could not decode
        raise BadInput("an argument of the command line is not valid UTF-8") from error


def _connect(config: Config, url: str) -> Rows:
    try:
        connection = connect_sync(url, application_name="switchyard command")
    except DatabaseUnavailable as error:
        if config is _NO_FILE and not url:
            raise ConfigError(
                f"{not_found()}. Without one, PG* variables name the database: {error}"
            ) from error
        raise
    connection.row_factory = dict_row  # type: ignore[assignment]
    connection.adapters.register_loader("timestamptz", _Time)
    set_json_loads(_json, connection)
    return connection  # type: ignore[return-value]


class _Time(TimestamptzLoader):
    """A time, or its text where Python has no such time: infinity, before the year 1, after 9999."""

    def load(self, data: Buffer) -> Any:
        try:
            return super().load(data)
        except psycopg.DataError:
            return bytes(data).decode()


def _json(data: str | bytes) -> Any:
    """A JSON value, or its text where Python cannot read it: nested too deeply, or a number too long."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data if isinstance(data, str) else bytes(data).decode()


def actor() -> str:
    """Who acts, for the record."""
    return f"{getpass.getuser()}@{socket.gethostname()}"
