"""Opening a session that claims may be made on: a primary, reached directly, with short limits."""

import psycopg

from conductor.session import Session
from switchyard.errors import DatabaseUnavailable, NotDirect
from switchyard.ledger.connect import connect
from switchyard.ledger.queries import query

BACKEND = query("conductor", "backend")
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
    """A session for one worker; raises where the server is a standby."""
    connection = await connect(
        url,
        application_name=f"{NAMED} {name}",
        statement_timeout=STATEMENT_TIMEOUT,
        lock_timeout=LOCK_TIMEOUT,
        idle_session_timeout="0",
    )
    session = Session(connection)
    try:
        [[_, in_recovery]] = await session.rows(BACKEND)
    except BaseException:
        await session.close()
        raise
    if in_recovery:
        await session.close()
        raise DatabaseUnavailable("the server is in recovery: a standby grants locks that others hold")
    return session


async def refuse_pooling(url: str) -> None:
    """NotDirect where statements of one connection may run in several server sessions.

    Behind a proxy the pid that the connection was told differs from the backend's own. Sessions that are
    pooled whole are fine; so see whether another client can take our backend between two of our statements.
    """
    first = await open_session(url, "probe")
    try:
        [[backend, _]] = await first.rows(BACKEND)
        if backend != first.announced_pid and backend != await _again_among_others(url, first):
            raise NotDirect(POOLED)
    except psycopg.Error as error:
        if (error.sqlstate or "")[:2] in ("26", "42"):  # a prepared statement that another session has
            raise NotDirect(POOLED) from error
        raise
    finally:
        await first.close()


async def _again_among_others(url: str, first: Session) -> int:
    """The backend that `first` gets while others hold transactions open."""
    others: list[Session] = []
    try:
        for _ in range(2):
            others.append(await open_session(url, "probe"))
            await others[-1].begin()
        [[again, _]] = await first.rows(BACKEND)
    except (psycopg.Error, DatabaseUnavailable) as error:
        raise NotDirect(POOLED) from error
    finally:
        for other in others:
            await other.close()
    return int(again)
