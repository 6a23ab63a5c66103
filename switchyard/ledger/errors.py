"""Translates psycopg's errors to ours by SQLSTATE, and tells whether an error concerns only one row.

No message carries a password: libpq quotes parts of a connection string that it cannot parse, and what was
not encoded in a URL may end up in the part that it takes for a host.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from switchyard.errors import (
    BadInput,
    ConfigError,
    DatabaseUnavailable,
    NotDirect,
    NotMigrated,
    SwitchyardError,
)
from switchyard.process.redact import redact, register_secret

NO_LEDGER = "This database has no ledger of this version: run `switchyard migrate`."
NO_PARTITION = "Create partitions with `switchyard partitions --ensure 14`; conductor does it by itself."
NO_ROLE = "This user lacks a role: grant one of switchyard_reader, _submitter, _admin."

# Of a URL, up to its last @, and of key=value pairs.
_PASSWORDS = re.compile(r"://[^:@/]*:(.*)@|password\s*=\s*(?:'((?:[^'\\]|\\.)*)'|(\S+))", re.DOTALL)
_MISREAD = re.compile(r"[@/:?#]")  # libpq may take what follows for the host
_PIECES = re.compile(r"[^@/:\s%?#&]{4,}")
# The longest prefix of a SQLSTATE that is in the table decides.
_BY_STATE: dict[str, type[SwitchyardError]] = {
    "08": DatabaseUnavailable,  # connection
    "22": BadInput,  # data
    "23": BadInput,  # constraints
    "25006": DatabaseUnavailable,  # a standby: read only
    "28": DatabaseUnavailable,  # authentication: a password that is being changed
    "3F000": NotMigrated,  # no schema
    "40": DatabaseUnavailable,  # deadlock, serialisation
    "42": BadInput,
    "42501": ConfigError,  # a role is missing
    "42703": NotMigrated,  # no such column
    "42883": NotMigrated,  # no such function
    "42P01": NotMigrated,  # no such table
    "53": DatabaseUnavailable,  # disk, memory, connections
    "54": BadInput,  # too large for a limit of the server's
    "55": DatabaseUnavailable,  # locks
    "57": DatabaseUnavailable,  # shutdown, cancelled statement
    "58": DatabaseUnavailable,  # the server's disk
}
# One row of a batch is to blame: the others may be written without it.
_ROW = frozenset({"22", "23", "42", "54"})
# Somebody holds a row, or time ran out: the same may work in a moment.
_BLOCKED = frozenset({"40", "55"})


def translated(error: psycopg.Error) -> SwitchyardError:
    """One of our errors, with the server's message."""
    state = error.sqlstate or ""
    return _sentence(_kind(error, state), state, _line(error), error.diag.message_hint)


def by_state(state: str, message: str) -> SwitchyardError:
    """The same for an error of another driver, by its SQLSTATE and message."""
    kind = _BY_STATE.get(state) or _BY_STATE.get(state[:2]) or SwitchyardError
    return _sentence(kind, state, redact(" ".join(message.split())), None)


def _sentence(kind: type[SwitchyardError], state: str, text: str, hint: str | None) -> SwitchyardError:
    if kind is NotMigrated:
        return kind(f"{text}\n{NO_LEDGER}")
    if text.startswith("no partition of relation"):
        return DatabaseUnavailable(f"{text}\n{NO_PARTITION}")
    if state == "42501":
        return kind(f"{text}\n{hint or NO_ROLE}")
    return kind(text)


@contextmanager
def unavailable() -> Iterator[None]:
    """Translate errors of the database to ours; errors of a single statement stay psycopg's."""
    try:
        yield
    except psycopg.Error as error:
        ours = translated(error)
        if isinstance(ours, ConfigError | DatabaseUnavailable):
            raise ours from error
        raise


def connecting(error: psycopg.OperationalError) -> SwitchyardError:
    """The same for a connection that could not be opened: there is no SQLSTATE then."""
    said = _line(error)
    if "unsupported startup parameter" in said:
        return NotDirect(f"a pooling proxy is in between and refuses our session's settings: {said}")
    return DatabaseUnavailable(f"cannot connect to the database: {said}")


UNREADABLE = (
    "the address of the database cannot be read: it is a URL like postgresql://user:password@host/database, "
    "in which %, @, / and blanks of a password are percent-encoded, or key=value pairs"
)


def parsed(address: str) -> dict[str, Any]:
    """The parts of a connection string; its password is masked from now on, however it is misread."""
    for in_url, quoted, plain in _PASSWORDS.findall(address):
        misread = _PIECES.findall(in_url) if _MISREAD.search(in_url) else []
        for secret in filter(None, (in_url, quoted, plain, *misread)):
            register_secret(secret)
    try:
        parts = conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        raise ConfigError(UNREADABLE) from None  # libpq's message quotes the password
    if password := parts.get("password"):
        register_secret(str(password))
    return parts


def blames_row(error: psycopg.Error) -> bool:
    """Whether the ledger refuses the row itself."""
    return (error.sqlstate or "")[:2] in _ROW and not lacks_partition(error)


def lacks_partition(error: psycopg.Error) -> bool:
    """Whether a partition for the row is missing: the row is valid and may be written later.

    The same SQLSTATE as a violated CHECK, which names its constraint, and as our triggers' errors, which name
    no table.
    """
    named = error.diag
    return error.sqlstate == "23514" and named.table_name is not None and named.constraint_name is None


def is_blocked(error: psycopg.Error) -> bool:
    """Whether another transaction or a timeout is the reason; a retry may work."""
    state = error.sqlstate or ""
    return state[:2] in _BLOCKED or state == "57014"


def _kind(error: psycopg.Error, state: str) -> type[SwitchyardError]:
    found = _BY_STATE.get(state) or _BY_STATE.get(state[:2])
    if found is not None:
        return found
    if isinstance(error, psycopg.DataError | psycopg.IntegrityError | psycopg.ProgrammingError):
        return BadInput
    return DatabaseUnavailable if isinstance(error, psycopg.OperationalError) else SwitchyardError


def _line(error: psycopg.Error) -> str:
    said = error.diag.message_primary or str(error)
    return redact(" ".join(said.split())) or type(error).__name__
