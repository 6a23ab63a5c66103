"""A connection in the event loop: one statement at a time, and whatever else the server sends in between.

psycopg makes a cursor, takes a lock and sets up a reader and a timeout for every statement: half of the time
that a short one takes. Here the reader stays as long as the connection does, a statement is prepared once,
and its result goes straight to whoever waits for it. How values look on the wire is still psycopg's business.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from psycopg import AsyncConnection, OperationalError, pq
from psycopg.abc import Buffer
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result

_PLACEHOLDER = re.compile(r"%(?:\((\w+)\)s|%)")
_REFUSED = (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE)


class Wire:
    """Sends statements and hears notifications on a connection that nobody else uses."""

    def __init__(
        self,
        connection: AsyncConnection[Any],
        on_notify: Callable[[bytes], None],
        on_end: Callable[[OperationalError], None],
    ) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._socket = connection.fileno()
        self._on_notify = on_notify
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._transformer = Transformer(connection)
        self._prepared: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self._answer: asyncio.Future[pq.abc.PGresult] | None = None
        self._result: pq.abc.PGresult | None = None
        self._closed = False
        self._loop.add_reader(self._socket, self._readable)

    async def rows(self, statement: str, values: Mapping[str, Any]) -> list[Any]:
        """Run a statement and return its rows; whoever gives up waiting for them must end the connection."""
        text, params, types, formats = self._dumped(statement, values)
        name = self._prepared.get((statement, types))
        if name is None:
            name = b"_%d" % len(self._prepared)
            self._raised(await self._asked(lambda: self._pgconn.send_prepare(name, text, types)))
            self._prepared[statement, types] = name
        return await self.answer(self._execute(name, params, formats))

    def send(self, statement: str, values: Mapping[str, Any]) -> "asyncio.Future[pq.abc.PGresult]":
        """Send now what was run before with values of the same types; `answer` brings the rows."""
        _, params, types, formats = self._dumped(statement, values)
        return self._execute(self._prepared[statement, types], params, formats)

    async def answer(self, sent: "asyncio.Future[pq.abc.PGresult]") -> list[Any]:
        """The rows of what was sent."""
        result = await sent
        self._raised(result)
        if not result.nfields:
            return []
        self._transformer.set_pgresult(result)
        return self._transformer.load_rows(0, result.ntuples, tuple)

    def close(self) -> None:
        """Leave the event loop, once: libpq closes a socket that ended, and another gets its number."""
        if self._closed:
            return
        self._closed = True
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)

    def _dumped(
        self, statement: str, values: Mapping[str, Any]
    ) -> tuple[bytes, Sequence[Buffer | None], tuple[int, ...], Sequence[pq.Format] | None]:
        text, names = _compiled(statement)
        transformer = self._transformer
        params = transformer.dump_sequence([values[name] for name in names], [PyFormat.AUTO] * len(names))
        return text, params, transformer.types or (), transformer.formats

    def _execute(
        self, name: bytes, params: Sequence[Buffer | None], formats: Sequence[pq.Format] | None
    ) -> "asyncio.Future[pq.abc.PGresult]":
        return self._asked(lambda: self._pgconn.send_query_prepared(name, params, formats, pq.Format.BINARY))

    def _asked(self, send: Callable[[], None]) -> "asyncio.Future[pq.abc.PGresult]":
        assert self._answer is None, "one statement at a time"
        try:
            send()
            self._flush()
        except OperationalError as error:
            self._end(error)
            raise
        answer = self._answer = self._loop.create_future()
        return answer

    def _raised(self, result: pq.abc.PGresult) -> None:
        if result.status in _REFUSED:
            raise error_from_result(result, encoding=self._connection.info.encoding)

    def _flush(self) -> None:
        """Send what is left to send, now and whenever the socket takes more."""
        if self._pgconn.flush():
            self._loop.add_writer(self._socket, self._flush_more)

    def _flush_more(self) -> None:
        try:
            left = self._pgconn.flush()
        except OperationalError as error:
            self._end(error)
            return
        if not left:
            self._loop.remove_writer(self._socket)

    def _readable(self) -> None:
        """An answer, a bell, a notice or the end."""
        connection = self._pgconn
        try:
            connection.consume_input()
            if self._answer is not None:
                self._collect(self._answer)
            while (bell := connection.notifies()) is not None:
                self._on_notify(bell.extra)
        except OperationalError as error:
            self._end(error)
            return
        if connection.status == pq.ConnStatus.BAD:
            self._end(OperationalError("the server closed the connection"))

    def _collect(self, answer: "asyncio.Future[pq.abc.PGresult]") -> None:
        while not self._pgconn.is_busy():
            result = self._pgconn.get_result()
            if result is not None:
                self._result = result
                continue
            last, self._result, self._answer = self._result, None, None
            if last is not None and not answer.done():
                answer.set_result(last)
            return

    def _end(self, error: OperationalError) -> None:
        self.close()
        self._on_end(error)
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_exception(error)
            answer.exception()  # known by `on_end` too: nobody has to ask for it


@cache
def _compiled(statement: str) -> tuple[bytes, tuple[str, ...]]:
    """The statement as the server knows parameters, and their names in its order."""
    names: dict[str, str] = {}

    def numbered(found: re.Match[str]) -> str:
        name = found[1]
        return names.setdefault(name, f"${len(names) + 1}") if name else "%"

    text = _PLACEHOLDER.sub(numbered, statement)
    return text.encode(), tuple(names)
