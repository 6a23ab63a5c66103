"""Executes a statement on the caller's connection: psycopg's, SQLAlchemy's or Django's.

None of these libraries but psycopg is imported here: a connection is recognised by the package of its class.
On a caller's connection nothing is committed. An error leaves psycopg's and Django's transaction aborted, as
any failed statement does: roll back, or wrap the call in a savepoint.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.rows import dict_row

from switchyard.client.records import Row
from switchyard.client.statements import Statement
from switchyard.errors import BadInput
from switchyard.ledger.errors import by_state, translated

Result = TypeVar("Result")

_PARAMETER = re.compile(r"%\((\w+)\)s")


def run(connection: Any, statement: Statement[Result]) -> Result:
    """Execute it on a blocking connection."""
    library = _library(connection)
    with _our_errors():
        if library == "psycopg":
            with connection.cursor(row_factory=dict_row) as cursor:
                rows: Sequence[Row] = cursor.execute(statement.text, statement.parameters).fetchall()
        elif library == "sqlalchemy":
            rows = connection.execute(_for_sqlalchemy(statement), statement.parameters).mappings().all()
        else:
            rows = _on_django(connection, statement)
    return statement.read(rows)


async def run_async(connection: Any, statement: Statement[Result]) -> Result:
    """Execute it on an asynchronous connection of psycopg or SQLAlchemy."""
    library = _library(connection)
    with _our_errors():
        if library == "psycopg":
            async with connection.cursor(row_factory=dict_row) as cursor:
                await cursor.execute(statement.text, statement.parameters)
                rows: Sequence[Row] = await cursor.fetchall()
        elif library == "sqlalchemy":
            found = await connection.execute(_for_sqlalchemy(statement), statement.parameters)
            rows = found.mappings().all()
        else:
            raise BadInput("Django has no asynchronous connections: use Switchyard, not AsyncSwitchyard")
    return statement.read(rows)


def _library(connection: Any) -> str:
    packages = [base.__module__.partition(".")[0] for base in type(connection).__mro__]
    for library in ("psycopg", "sqlalchemy", "django"):
        if library in packages:
            return library
    kind = f"{type(connection).__module__}.{type(connection).__qualname__}"
    raise BadInput(f"{kind} is not a connection of psycopg, SQLAlchemy or Django, nor a database URL")


def _for_sqlalchemy(statement: Statement[Any]) -> Any:
    from sqlalchemy import text  # noqa: PLC0415 - only where the caller has it

    return text(_PARAMETER.sub(r":\1", statement.text))


def _on_django(connection: Any, statement: Statement[Any]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(statement.text, statement.parameters)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@contextmanager
def _our_errors() -> Iterator[None]:
    """The database's errors as ours, also where SQLAlchemy or Django has wrapped them."""
    try:
        yield
    except psycopg.Error as error:
        raise translated(error) from error
    except Exception as error:
        cause = getattr(error, "orig", None) or error.__cause__
        if isinstance(cause, psycopg.Error):
            raise translated(cause) from error
        state = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)  # asyncpg, psycopg2
        if state is None:
            raise
        raise by_state(str(state), str(cause)) from error
