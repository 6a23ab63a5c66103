"""Detects pooling proxies: a lock belongs to a session, which a proxy may give to other clients.

Behind a proxy the process id that a connection received is not that of the backend. A proxy that pools whole
sessions does no harm; one that pools transactions gives our backend to another client between two of our
statements. So others ask, in transactions that stay open, and then we look whether it is still ours.
"""

from contextlib import ExitStack
from enum import Enum, auto

import psycopg

from switchyard.errors import DatabaseUnavailable
from switchyard.ledger.connect import connect_sync
from switchyard.ledger.errors import translated
from switchyard.ledger.queries import query

_BACKEND = query("pooling", "backend")
_OTHERS = 3
# A pool that is too small for all of us lets one wait: that is an answer, and it need not take long.
_PATIENCE = {"statement_timeout": "2500ms", "lock_timeout": "250ms"}


class Reach(Enum):
    """How a connection reaches the server."""

    DIRECT = auto()
    SESSIONS = auto()
    TRANSACTIONS = auto()


def reached(url: str) -> Reach:
    """How the server is reached; raises if it is not."""
    with ExitStack() as stack:
        first = _probe(url, stack)
        try:
            backend = _backend(first)
            if backend == first.info.backend_pid:
                return Reach.DIRECT
            return Reach.SESSIONS if _kept(url, first, backend, stack) else Reach.TRANSACTIONS
        except psycopg.Error as error:
            if (error.sqlstate or "")[:2] in ("26", "42"):  # a prepared statement that another session has
                return Reach.TRANSACTIONS
            raise translated(error) from error


def _kept(url: str, first: psycopg.Connection, backend: int, stack: ExitStack) -> bool:
    """Whether `first` still has its backend while others hold transactions open."""
    try:
        for _ in range(_OTHERS):
            other = _probe(url, stack)
            other.autocommit = False  # its look begins a transaction, which nobody ends
            if _backend(other) == backend:
                return False
        return _backend(first) == backend
    except (psycopg.Error, DatabaseUnavailable):
        return False


def _probe(url: str, stack: ExitStack) -> psycopg.Connection:
    connection = connect_sync(url, application_name="switchyard probe", **_PATIENCE)
    stack.callback(connection.close)
    return connection


def _backend(connection: psycopg.Connection) -> int:
    [[pid]] = connection.execute(_BACKEND).fetchall()
    return int(pid)
