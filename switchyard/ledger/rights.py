"""What the user that migrates may not do, and what an administrator has to run for it."""

from dataclasses import dataclass
from typing import Any

from psycopg import Connection, sql
from psycopg.rows import dict_row

from switchyard.ledger.queries import query


@dataclass(frozen=True, slots=True)
class Rights:
    """`missing`: in words. `script`: the statements that grant it, for an administrator."""

    user: str
    missing: tuple[str, ...]
    script: str


def rights(connection: Connection[Any]) -> Rights:
    """Of this connection's user, in its database; nothing is missing where `migrate` can succeed."""
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(query("migrate", "rights")).fetchone()
    assert row is not None
    user, missing, statements = sql.Identifier(row["username"]), [], []
    if row["roles"]:
        missing.append(f"create the roles {', '.join(row['roles'])}")
        statements += [sql.SQL("create role {};").format(sql.Identifier(role)) for role in row["roles"]]
        roles = sql.SQL(", ").join(map(sql.Identifier, row["roles"]))  # signalbox takes a caller's role
        statements.append(sql.SQL("grant {} to {} with admin option;").format(roles, user))
    if not row["may_create_schema"]:
        missing.append(f"create a schema in the database {row['database']}")
        database = sql.Identifier(row["database"])
        statements.append(sql.SQL("grant create on database {} to {};").format(database, user))
    if not row["may_create_table"]:
        missing.append("create the table public.migration")
        statements.append(sql.SQL("grant create on schema public to {};").format(user))
    if missing and not row["may_signal"]:  # wanted, and not needed: doctor reports it
        statements.append(sql.SQL("grant pg_signal_backend to {};").format(user))
    lines = [statement.as_string(connection) for statement in statements]
    return Rights(row["username"], tuple(missing), "\n".join(lines))
