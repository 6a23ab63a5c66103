"""Opens a session for claims: a direct connection to the primary, with short timeouts."""

import asyncio

from conductor.session.session import Session
from switchyard.errors import NotDirect
from switchyard.ledger.connect import connect
from switchyard.ledger.pooling import Reach, reached

NAMED = "conductor"

# A statement that the server gives up on is an error we can answer; one we give up on costs the session.
STATEMENT_TIMEOUT = "2500ms"
# A thread's row is locked only for a moment; where it is not, the others of the group go first.
LOCK_TIMEOUT = "250ms"

POOLED = (
    "the database is reached through a transaction-pooling proxy: a claim is a lock of the session, and "
    "there each statement may run in another one. Connect to Postgres itself, or to a port that pools "
    "sessions."
)


async def open_session(url: str, name: str) -> Session:
    """Open a worker's session. `connect` refuses a standby, which would grant locks that others hold."""
    connection = await connect(
        url,
        application_name=f"{NAMED} {name}",
        statement_timeout=STATEMENT_TIMEOUT,
        lock_timeout=LOCK_TIMEOUT,
        idle_session_timeout="0",
    )
    return Session(connection)


async def refuse_pooling(url: str) -> None:
    """Raise NotDirect if statements of one connection may run in several server sessions."""
    if await asyncio.to_thread(reached, url) is Reach.TRANSACTIONS:
        raise NotDirect(POOLED)
