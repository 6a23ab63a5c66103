"""One request on one connection: written in one piece, its answer read by aiohttp's parser.

The connections, TLS and the parser are aiohttp's; its session is left out. The session repeats a GET, PUT or
DELETE by itself when a pooled connection turns out to be dead; without it there is nothing here that could
send twice. It also takes as long as the exchange itself (docs/adr/0073).
"""

import asyncio
from typing import TYPE_CHECKING

import aiohttp
from yarl import URL

from switchyard.backends.http.fault import Interrupted
from switchyard.backends.http.outgoing import Outgoing

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.http import RawResponseMessage

_BODILESS = frozenset({"GET", "HEAD"})
_REMEMBERED = 512


class Routes:
    """What a connector wants to know of a request before it connects: the same for all to one place."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._known: dict[tuple[str, str | None], aiohttp.ClientRequest] = {}

    def __call__(self, url: URL) -> aiohttp.ClientRequest:
        """The route to the URL's host and port."""
        place = (url.scheme, url.host_port_subcomponent)
        route = self._known.get(place)
        if route is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            route = self._known[place] = aiohttp.ClientRequest("GET", url.origin(), loop=self._loop)
        return route


def written(request: Outgoing, host: str, *, close: bool) -> bytes:
    """The request as it goes out. ValueError where a header would break out of its line."""
    lines = [f"{request.method} {request.url.raw_path_qs} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    if request.body or request.method not in _BODILESS:
        lines.append(f"Content-Length: {len(request.body)}")
    if close:
        lines.append("Connection: close")
    text = "\r\n".join(lines)
    if not text.count("\r") == text.count("\n") == len(lines) - 1 or "\0" in text:
        raise ValueError("a header holds a line break")
    return b"%b\r\n\r\n%b" % (text.encode(), request.body)


async def exchanged(
    protocol: "ResponseHandler | None", data: bytes
) -> "tuple[RawResponseMessage, aiohttp.StreamReader]":
    """Write the request, wait for the head of its answer; interim answers are passed over."""
    if protocol is None or protocol.transport is None or protocol.transport.is_closing():
        raise Interrupted
    protocol.transport.write(data)
    if not protocol.writing_paused:  # else the answer's time-out begins with its first piece
        protocol.start_timeout()
    while True:
        message, body = await protocol.read()
        if not 100 <= message.code <= 199 or message.code == 101:
            return message, body


def at_rest(protocol: "ResponseHandler | None", body: aiohttp.StreamReader) -> bool:
    """Whether all of the request has gone and all of the answer has come: another may follow here."""
    transport = None if protocol is None else protocol.transport
    return transport is not None and body.is_eof() and not transport.get_write_buffer_size()
