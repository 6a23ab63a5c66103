"""Callers by their token."""

from signalbox.access.roles import NOBODY, Caller, Role
from signalbox.database import Database
from switchyard.ledger.queries import query
from switchyard.tokens import PREFIX, hash_of

LONGEST = 100


async def from_token(database: Database, token: str) -> Caller | None:
    """The caller that a valid token identifies."""
    if not token.startswith(PREFIX) or len(token) > LONGEST:
        return None
    async with database.transaction(NOBODY) as connection:
        cursor = await connection.execute(query("signalbox", "use_token"), {"hash": hash_of(token)})
        row = await cursor.fetchone()
    return None if row is None else Caller(f"token:{row['name']}", Role(row["role"]))
