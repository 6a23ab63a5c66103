"""The connection that holds a worker's claims: the fence.

The model. Advisory locks live and die with this connection, and every outcome of what was claimed through
it is written through it. While it lives, no other session can claim what we hold; once it is gone the
server frees the locks, another worker claims, and nothing that we still have in memory can be written any
more, because the object that could write it is dead too. There is no token to compare and no clock to
trust.

The window of trust. The server may notice our death later than we notice its silence, never the other way
round for long: a statement goes out at least every second while the worker holds claims, else with every
heartbeat (TCP keepalives watch a worker that rests), and one whose answer brings no byte for three seconds
severs the socket. (A large answer over a slow link takes as long as it takes.) From then on every call raises
`SessionLost`, the dispatches in flight are cancelled and their outcomes dropped. A dispatch that ignores its
cancellation can still do its work twice (at-least-once); it cannot write twice.

What each failure does:
- the backend is terminated, the server crashes: the socket ends; seen at once, even while idle.
- a silent network or a stopped server: no answer within three seconds; severed here, and by keepalives there.
- this process is stopped (SIGSTOP): whoever marks the worker lost terminates the backend; seen on waking.
- an error in claim or unlock: the session may hold unknown locks, so its owner closes it.
"""

import asyncio
import os
import socket
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, LiteralString, TypeVar

from psycopg import AsyncConnection, OperationalError

from conductor.session import arrays, jsonb
from conductor.session.protocol import Params, PgProtocol, Prepared, Sent
from switchyard.errors import DatabaseUnavailable
from switchyard.ledger.queries import query

PING = query("conductor", "ping")
ANSWER_WITHIN = 3.0
ROUND_TRIP_EVERY = 1.0

_Answer = TypeVar("_Answer")


class SessionLost(DatabaseUnavailable):
    """The connection that held the claims was lost, and the claims with it."""


class Session:
    """One connection, one statement at a time, with a limit on how long the server may be silent."""

    def __init__(self, connection: AsyncConnection[Any], answer_within: float = ANSWER_WITHIN) -> None:
        self._connection = connection
        self.answer_within = answer_within
        self.on_bell: Callable[[bytes], None] = lambda _named: None
        self.on_end: Callable[[], None] = lambda: None
        self._loop = asyncio.get_running_loop()
        self._lost: str | None = None
        self.answered_at = self._loop.time()
        self._rests: asyncio.Event | None = None
        arrays.register(connection)
        jsonb.register(connection)
        self._protocol = PgProtocol(connection, self._heard, self._ended)

    @property
    def lost(self) -> str | None:
        """Why the session was lost, or None."""
        return self._lost

    async def rows(self, statement: LiteralString, values: Mapping[str, Any] | None = None) -> list[Any]:
        """Run one statement in its own transaction and return its rows."""
        self._check()
        return await self._answered(self._protocol.rows(statement, values or {}))

    async def prepare(self, statement: LiteralString, types: tuple[int, ...]) -> Prepared:
        """Prepare a statement."""
        self._check()
        return await self._answered(self._protocol.prepare(statement, types))

    def send(self, prepared: Prepared, params: Params) -> Sent:
        """Send a statement now, with binary values; no other may be sent before its answer."""
        self._check()
        return self._protocol.send(prepared, params)

    async def answer(self, prepared: Prepared, sent: Sent) -> list[Any]:
        """The rows of the statement that was sent."""
        self._check()
        return await self._answered(self._protocol.answer(prepared, sent))

    async def _answered(self, answer: Coroutine[Any, Any, _Answer]) -> _Answer:
        silence = _Silence(self)
        try:
            found = await answer
        except OperationalError as error:
            if self._connection.closed or self._lost:
                self._lose(str(error))
            raise
        except asyncio.CancelledError:
            self.sever("a statement was given up")  # its answer would be taken for that of the next one
            raise
        finally:
            silence.over()
        self.answered_at = self._loop.time()
        return found

    def quiet_until(self) -> float:
        """When the next round trip is due, while the worker holds claims."""
        return self.answered_at + ROUND_TRIP_EVERY

    async def ping(self) -> None:
        """Make a round trip to the server."""
        await self.rows(PING)

    async def wait(self, until: asyncio.Event, seconds: float) -> None:
        """Wait for the event, a notification, the end of the connection, or the timeout."""
        self._check()
        timer = self._loop.call_later(max(0.0, seconds), until.set)
        self._rests = until
        try:
            await until.wait()
        finally:
            timer.cancel()
            self._rests = None
        self._check()

    def silent_for(self) -> float:
        """Seconds since the last byte from the server."""
        return self._loop.time() - self._protocol.received_at

    def sever(self, reason: str) -> None:
        """Close the connection now: a waiting caller gets an error, and the server releases the locks."""
        self._lost = self._lost or reason
        if self._connection.closed:
            return
        with socket.socket(fileno=os.dup(self._connection.fileno())) as end:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # it ended by itself meanwhile

    async def close(self) -> None:
        """Close the connection; the server releases what is still locked."""
        self._lost = self._lost or "closed"
        self._protocol.close()
        await self._connection.close()

    def _check(self) -> None:
        if self._lost:
            raise SessionLost(self._lost)

    def _lose(self, reason: str) -> None:
        self.sever(_first_line(reason))
        raise SessionLost(self._lost or reason)

    def _heard(self, named: bytes) -> None:
        if self._lost is None:
            self.on_bell(named)

    def _ended(self, error: OperationalError) -> None:
        """Mark the session as lost and wake waiting callers at once."""
        self._lost = self._lost or _first_line(str(error))
        self.on_end()
        if self._rests is not None:
            self._rests.set()


class _Silence:
    """Closes a session whose server sends nothing for too long while a result is awaited."""

    __slots__ = ("_session", "_timer", "_within")

    def __init__(self, session: Session) -> None:
        self._session = session
        self._within = session.answer_within
        self._timer = asyncio.get_running_loop().call_later(self._within, self._strike)

    def over(self) -> None:
        """The result has arrived."""
        self._timer.cancel()

    def _strike(self) -> None:
        left = self._within - self._session.silent_for()
        if left > 0:
            self._timer = asyncio.get_running_loop().call_later(left, self._strike)
        else:
            self._session.sever(f"no answer within {self._within:g} s")


def _first_line(said: str) -> str:
    return said.strip().splitlines()[0] if said.strip() else "the connection ended"
