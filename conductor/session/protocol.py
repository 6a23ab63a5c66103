"""A connection in the event loop: one statement at a time, and the notifications in between.

psycopg makes a cursor, takes a lock and sets up a reader and a timeout for every statement: half of the time
that a short one takes. Here the reader stays as long as the connection does, a statement is prepared once,
and its result goes straight to the waiting caller. psycopg still encodes and decodes the values.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from psycopg import AsyncConnection, OperationalError, abc, pq
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result

_PLACEHOLDER = re.compile(r"%(?:\((\w+)\)s|%)")
_REFUSED = (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE)

Sent = asyncio.Future[pq.abc.PGresult]
Params = Sequence[abc.Buffer | None]
Formats = Sequence[pq.Format] | None


@dataclass(slots=True)
class Prepared:
    """A prepared statement; its result columns and their loaders are fixed."""

    name: bytes
    reader: abc.Transformer
    unread: bool = True


class PgProtocol:
    """Sends statements and receives notifications, with exclusive use of its connection."""

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
        self._prepared: dict[tuple[str, tuple[int, ...]], Prepared] = {}
        self._answer: Sent | None = None
        self._result: pq.abc.PGresult | None = None
        self._closed = False
        self.received_at = self._loop.time()  # when bytes came last
        self._loop.add_reader(self._socket, self._readable)

    async def rows(self, statement: str, values: Mapping[str, Any]) -> list[Any]:
        """Run a statement and return its rows; a caller that stops waiting must close the connection."""
        params, types, formats = self._dumped(statement, values)
        prepared = self._prepared.get((statement, types)) or await self.prepare(statement, types)
        return await self.answer(prepared, self._execute(prepared, params, formats))

    async def prepare(self, statement: str, types: tuple[int, ...]) -> Prepared:
        """Prepare a statement; the types are those of its parameters, in the order of their names."""
        name, text = b"_%d" % len(self._prepared), _compiled(statement)[0]
        self._raised(await self._asked(lambda: self._pgconn.send_prepare(name, text, types)))
        prepared = self._prepared[statement, types] = Prepared(name, Transformer(self._connection))
        return prepared

    def send(self, prepared: Prepared, params: Params) -> Sent:
        """Send the statement now, with binary values; `answer` returns the rows."""
        return self._execute(prepared, params, [pq.Format.BINARY] * len(params))

    async def answer(self, prepared: Prepared, sent: Sent) -> list[Any]:
        """The rows of the statement that was sent."""
        result = await sent
        self._raised(result)
        if not result.nfields:
            return []
        prepared.reader.set_pgresult(result, set_loaders=prepared.unread)
        prepared.unread = False
        return prepared.reader.load_rows(0, result.ntuples, tuple)

    def close(self) -> None:
        """Remove the socket from the event loop, once: after libpq closes it, its number may be reused."""
        if self._closed:
            return
        self._closed = True
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)

    def _dumped(self, statement: str, values: Mapping[str, Any]) -> tuple[Params, tuple[int, ...], Formats]:
        transformer, names = self._transformer, _compiled(statement)[1]
        params = transformer.dump_sequence([values[name] for name in names], [PyFormat.AUTO] * len(names))
        return params, transformer.types or (), transformer.formats

    def _execute(self, prepared: Prepared, params: Params, formats: Formats) -> Sent:
        return self._asked(
            lambda: self._pgconn.send_query_prepared(prepared.name, params, formats, pq.Format.BINARY)
        )

    def _asked(self, send: Callable[[], None]) -> Sent:
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
        """Send buffered data, now and when the socket becomes writable."""
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
        """Read from the socket: a result, a notification, a notice or the end of the connection."""
        connection = self._pgconn
        try:
            connection.consume_input()
            self.received_at = self._loop.time()
            if self._answer is not None:
                self._collect(self._answer)
            while (bell := connection.notifies()) is not None:
                self._on_notify(bell.extra)
        except OperationalError as error:
            self._end(error)
            return
        if connection.status == pq.ConnStatus.BAD:
            self._end(OperationalError("the server closed the connection"))

    def _collect(self, answer: Sent) -> None:
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
    """The statement with $1-style parameters, and their names in order."""
    names: dict[str, str] = {}

    def numbered(found: re.Match[str]) -> str:
        name = found[1]
        return names.setdefault(name, f"${len(names) + 1}") if name else "%"

    text = _PLACEHOLDER.sub(numbered, statement)
    return text.encode(), tuple(names)
