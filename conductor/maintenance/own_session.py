"""The session for everything except claims: opened when needed, dropped after any error."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from conductor.session.session import Session
from switchyard.ledger.connect import connect
from switchyard.ledger.queries import query

PATIENCE = 30.0
LISTEN = query("conductor", "listen_for_changes")


class OwnSession:
    """One session that several loops share, one loop at a time."""

    def __init__(self, url: str, *, statement_timeout: str = "25s", lock_timeout: str = "2s") -> None:
        self._url = url
        self._limits = {"statement_timeout": statement_timeout, "lock_timeout": lock_timeout}
        self.on_change: Callable[[], None] = lambda: None
        self._turn = asyncio.Lock()
        self._session: Session | None = None

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """The session; an error inside the block drops it and the locks that it held."""
        async with self._turn:
            try:
                if self._session is None:
                    self._session = await self._opened()
                yield self._session
            except BaseException:
                await self._drop()
                raise

    async def close(self) -> None:
        """Close the session, if there is one."""
        async with self._turn:
            await self._drop()

    async def _opened(self) -> Session:
        connection = await connect(self._url, application_name="conductor maintenance", **self._limits)
        session = Session(connection, answer_within=PATIENCE)
        session.on_bell = self._changed
        session.on_end = self._changed  # a change is not heard until there is another session
        await session.rows(LISTEN)
        self.on_change()  # a change may have been missed
        return session

    def _changed(self, _payload: bytes = b"") -> None:
        self.on_change()

    async def _drop(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()
