"""Opens connections with the settings that Switchyard's guarantees need.

Everything that a server or a role could have set otherwise is set here: read committed (at
repeatable read the claim's second look would see the first one's snapshot and hand out finished
actions), a server that takes writes (a standby grants a lock that the primary holds too), UTF-8 and
one form of dates and numbers, a commit that is on disk when it returns (at-most-once is a promise
about a crash), and timeouts at both ends, so that a half-open connection is noticed.
"""

from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.conninfo import make_conninfo

from switchyard.ledger.errors import connecting, parsed
from switchyard.ledger.queries import query

PIN = query("connect", "pin")

LibpqOptions = dict[str, str | int]

# An idle connection holds the locks of what is in flight: keepalives must end a dead one, not an idle limit.
_CLIENT: LibpqOptions = {
    "connect_timeout": 10,
    "target_session_attrs": "read-write",
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "client_encoding": "UTF8",
}
_SERVER = {
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "statement_timeout": "60s",
    "lock_timeout": "30s",
    "idle_in_transaction_session_timeout": "60s",
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "10s",
    "idle_session_timeout": "0",
    "timezone": "UTC",
    "datestyle": "ISO,YMD",
    "intervalstyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "search_path": "pg_catalog,public",  # all that is ours is written with its schema
    "row_security": "on",
    "jit": "off",  # compiling a plan over all partitions takes seconds, running it milliseconds
}


def conninfo(url: str, application_name: str, **settings: str) -> str:
    """The URL with all settings pinned; `settings` overrides server settings for this connection."""
    given = parsed(url)
    pinned = " ".join(f"-c {name}={_escaped(value)}" for name, value in {**_SERVER, **settings}.items())
    options = " ".join(filter(None, [str(given.pop("options", "") or ""), pinned]))
    merged: dict[str, Any] = {
        **given,
        **_CLIENT,
        "connect_timeout": given.get("connect_timeout", _CLIENT["connect_timeout"]),
        "options": options,
        "application_name": application_name[:63],
    }
    return make_conninfo("", **merged)


async def connect(url: str, *, application_name: str, **settings: str) -> AsyncConnection:
    """An asynchronous connection in autocommit: a transaction is open only when one is started."""
    pinned = conninfo(url, application_name, **settings)
    try:
        connection = await AsyncConnection.connect(pinned, autocommit=True)
        try:
            await connection.execute(PIN)
        except BaseException:
            await connection.close()
            raise
    except psycopg.OperationalError as error:
        raise connecting(error) from error
    return connection


def connect_sync(url: str, *, application_name: str, **settings: str) -> Connection:
    """The same for commands."""
    pinned = conninfo(url, application_name, **settings)
    try:
        connection = Connection.connect(pinned, autocommit=True)
        try:
            connection.execute(PIN)
        except BaseException:
            connection.close()
            raise
    except psycopg.OperationalError as error:
        raise connecting(error) from error
    return connection


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace(" ", "\\ ")
