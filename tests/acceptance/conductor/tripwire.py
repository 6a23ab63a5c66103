"""A proxy before Postgres that knows the conductor's statements, and is asked before one of them goes on.

`before` a statement: it has not reached the server. `after` it: the server has run and committed it, and the
conductor does not know yet. Whatever it is asked at, the conductor waits for the answer: nothing moves, one can
look around, and then it dies there.
"""

import contextlib
import re
import socket
import struct
import threading
from collections.abc import Callable
from typing import Literal, Self

from switchyard.ledger.queries import query

When = Literal["before", "after"]

_PLACE = re.compile(r"\$\d+|%\(\w+\)s")
_BIND, _PARSE, _READY = b"B", b"P", b"Z"


def statement(name: str) -> str:
    """A statement of conductor.sql, as it can be recognised on the wire."""
    return _PLACE.sub("?", query("conductor", name)).strip()


class Tripwire:
    """Listens on a loopback port; `strike` is called once, at the first of these statements."""

    def __init__(self, upstream: int, names: tuple[str, ...], when: When, strike: Callable[[], None]) -> None:
        self._upstream, self._strike = upstream, strike
        self._awaited = {statement(name) for name in names}
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]
        self.when = when
        self.about = b""  # what its values must hold, where it is also run about something else
        self._struck = False

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for one in [self._listener, *self._sockets]:
            one.close()

    def trip(self) -> None:
        """Strike, if nobody did yet."""
        if not self._struck:
            self._struck = True
            self._strike()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed: the test is over
            server = socket.create_connection(("127.0.0.1", self._upstream))
            self._sockets += [client, server]
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line = _Line(client, server, self)
            for pump in (line.to_server, line.to_client):
                threading.Thread(target=_ended_with, args=(pump, client, server), daemon=True).start()

    def awaits(self, text: str) -> bool:
        """Whether it is the one."""
        return _PLACE.sub("?", text).strip() in self._awaited


class _Line:
    """One connection; messages are passed on whole."""

    def __init__(self, client: socket.socket, server: socket.socket, wire: Tripwire) -> None:
        self._client, self._server, self._wire = client, server, wire
        self._prepared: dict[bytes, bool] = {}  # by the statement's name, whether it is the one
        self._running = False

    def to_server(self) -> None:
        self._server.sendall(_first(self._client))
        while True:
            kind, message = _message(self._client)
            if kind == _PARSE:
                name, text, _ = message[5:].split(b"\0", 2)
                self._prepared[name] = self._wire.awaits(text.decode())
            of_it = kind == _BIND and self._prepared[message[5:].split(b"\0", 2)[1]]
            if of_it and self._wire.about in message:
                if self._wire.when == "before":
                    self._wire.trip()
                    return
                self._running = True
            self._server.sendall(message)

    def to_client(self) -> None:
        while True:
            kind, message = _message(self._server)
            if kind == _READY and self._running:
                self._wire.trip()
                return
            self._client.sendall(message)


def _ended_with(pump: Callable[[], None], *ends: socket.socket) -> None:
    try:
        pump()
    except OSError:
        pass  # one side is gone, so the other goes too
    finally:
        for end in ends:
            # Shut down, not closed: the other thread may be reading there, and would keep it open.
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def _exactly(source: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = source.recv(count - len(data))
        if not piece:
            raise ConnectionResetError
        data += piece
    return data


def _first(source: socket.socket) -> bytes:
    """The start-up message, which alone has no kind."""
    length = _exactly(source, 4)
    return length + _exactly(source, struct.unpack(">i", length)[0] - 4)


def _message(source: socket.socket) -> tuple[bytes, bytes]:
    head = _exactly(source, 5)
    return head[:1], head + _exactly(source, struct.unpack(">i", head[1:])[0] - 4)
