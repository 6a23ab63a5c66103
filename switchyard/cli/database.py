"""The configuration and the database of a command, with database errors as messages."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.rows import DictRow, dict_row
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import set_json_loads

from switchyard.config.connection import Connection as Settings
from switchyard.config.connection import connection_of_environment, find, not_found, read_connection
from switchyard.config.problems import InvalidConfig
from switchyard.errors import BadInput, ConfigError, DatabaseUnavailable
from switchyard.extras import missing_extra
from switchyard.ledger.connect import connect_sync
from switchyard.ledger.errors import translated

if TYPE_CHECKING:
    from switchyard.config.config import Config

Rows = Connection[DictRow]

_NO_FILE = Settings()


def configured(path: Path | None) -> Settings:
    """The database and the store: from the file, else from the environment, else from PG* variables."""
    if _is_there(path):
        return read_connection(path)
    found = connection_of_environment()
    return _NO_FILE if found == _NO_FILE else found


def whole_config(path: Path | None) -> "Config":
    """The whole configuration, every section checked; without a file, the defaults."""
    # Half a second, and libraries of the extra `server`: for the commands that need more than a connection.
    from switchyard.config.config import Config  # noqa: PLC0415
    from switchyard.config.load import load  # noqa: PLC0415

    return load(path) if _is_there(path) else Config()


def rules(path: Path | None) -> "Config | None":
    """The configuration to check submissions against, if there is one that can be read here."""
    if not _is_there(path):
        return None
    try:
        return whole_config(path)
    except ModuleNotFoundError as error:
        if missing_extra(error) is None:
            raise
        return None


def _is_there(path: Path | None) -> bool:
    if path is None:
        try:
            find(None, os.environ)
        except InvalidConfig:
            return False
    return True


@contextmanager
def connected(config: "Settings | Config", url: str | None = None) -> Iterator[Rows]:
    """A connection to the configured database, or to a URL."""
    connection = _connect(config, config.database.conninfo() if url is None else url)
    try:
        with connection:
            yield connection
    except psycopg.Error as error:
        raise translated(error) from error
    except UnicodeEncodeError as error:  # an argument of the command line that Python could not decode
        raise BadInput("an argument of the command line is not valid UTF-8") from error


@contextmanager
def missing_file_named(config: "Settings | Config", url: str = "") -> Iterator[None]:
    """Where no file was found, a database that cannot be reached is probably not the one that is meant."""
    try:
        yield
    except DatabaseUnavailable as error:
        if config is _NO_FILE and not url:
            raise ConfigError(
                f"{not_found()}. Without one, PG* variables name the database: {error}"
            ) from error
        raise


def _connect(config: "Settings | Config", url: str) -> Rows:
    with missing_file_named(config, url):
        connection = connect_sync(url, application_name="switchyard command")
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
