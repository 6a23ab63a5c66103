"""One HTTP exchange: its address is checked, time and size are limited, and it is sent once.

A request is written in one piece on one connection, and its answer is read by aiohttp's parser. Connections,
TLS and the parser are aiohttp's, but its session is not used: it repeats a GET, PUT or DELETE if a pooled
connection turns out to be dead, and without it nothing here can send twice. It also takes as long as the
exchange itself (docs/adr/0073). Redirects, if an action allows them, are new requests that are checked like
the first.
"""

import asyncio
import ssl
import time
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import aiohttp
from yarl import URL

from switchyard.backends.http.address import AddressPolicy
from switchyard.backends.http.answer import Answer, take, unpacked
from switchyard.backends.http.connector import QuietConnector
from switchyard.backends.http.fault import EXPECTED, Fault, Interrupted, broken_body, fault_of
from switchyard.backends.http.redact import sensitive
from switchyard.backends.http.request import OutgoingRequest
from switchyard.backends.http.resolver import CACHE_SECONDS, VettedResolver
from switchyard.backends.http.url import UrlError, parse_url, shown
from switchyard.process.deadline import Deadlines, Limit

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import Connection
    from aiohttp.http import RawResponseMessage


_KEEPS_METHOD = frozenset({307, 308})
_MAY_BECOME_GET = frozenset({301, 302, 303})


def next_hop(request: OutgoingRequest, status: int, location: str | None) -> OutgoingRequest | None:
    """The next request of a redirect; None if the answer is final. Raises if the target may not be called."""
    if location is None or not (
        status in _KEEPS_METHOD or (status in _MAY_BECOME_GET and request.method in ("GET", "HEAD"))
    ):
        return None  # a POST that became a GET would look delivered although it was not
    url = _target(request.url, location)
    if request.url.scheme == "https" and url.scheme != "https":
        raise UrlError("the redirect leaves TLS")
    elsewhere = url.origin() != request.url.origin()
    if elsewhere and request.secret_body:
        raise UrlError("the redirect leads to another host, and the body holds a secret")
    headers = _public(request) if elsewhere else request.headers
    return replace(request, url=url, headers=headers, shown_url=shown(url))


def _target(base: URL, location: str) -> URL:
    try:
        target = base.join(URL(location))
    except ValueError:
        raise UrlError("the redirect leads to no URL") from None
    if target.raw_user is not None:
        raise UrlError("the redirect's URL contains credentials")
    return parse_url(str(target))


def _public(request: OutgoingRequest) -> dict[str, str]:
    """Headers for another host: without credentials. A signature depends on the body only and may stay."""
    return {
        name: value
        for name, value in request.headers.items()
        if name.lower().startswith("webhook-") or not (name in request.private or sensitive(name))
    }


_BODILESS = frozenset({"GET", "HEAD"})
_REMEMBERED = 512


class Routes:
    """The part of a request that a connector needs to connect; shared by all requests to one host."""

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


def written(request: OutgoingRequest, host: str, *, close: bool) -> bytes:
    """The bytes of a request. ValueError if a header would break out of its line."""
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
    """Write the request and wait for the head of its answer, skipping interim answers."""
    if protocol is None or protocol.transport is None or protocol.transport.is_closing():
        raise Interrupted
    protocol.transport.write(data)
    if not protocol.writing_paused:  # otherwise the time-out for the answer starts with its first bytes
        protocol.start_timeout()
    while True:
        message, body = await protocol.read()
        if not 100 <= message.code <= 199 or message.code == 101:
            return message, body


def at_rest(protocol: "ResponseHandler | None", body: aiohttp.StreamReader) -> bool:
    """Whether all of the request was sent and all of the answer received: the connection is reusable."""
    transport = None if protocol is None else protocol.transport
    return transport is not None and body.is_eof() and not transport.get_write_buffer_size()


KEEP_ALIVE = 4.0  # seconds; shorter than most servers' time-out, so that a connection is rarely found dead
HEADER_LINES = 100
HEADER_LINE = 8190  # bytes
_EXACT = 1e9  # aiohttp rounds time-outs above this many seconds; ours must be exact


@dataclass(frozen=True, slots=True)
class SendLimits:
    """Limits on time and size. `connect` ends before `total`: then certainly nothing was sent."""

    connect: float
    read: float | None
    total: float
    answer: int  # bytes of the body
    headers: int = HEADER_LINE  # bytes of one header
    redirects: int = 0


class Client:
    """A connection pool with its own resolver and TLS settings; no cookies, no proxy from the environment."""

    def __init__(
        self, policy: AddressPolicy, tls: ssl.SSLContext, limits: SendLimits, *, concurrency: int, reuse: bool
    ) -> None:
        self._limits = limits
        self._reuse = reuse
        self._routes = Routes()
        self._resolver = VettedResolver(policy)
        self._connector = QuietConnector(
            resolver=self._resolver,
            ttl_dns_cache=CACHE_SECONDS,
            socket_factory=self._resolver.socket_for,
            ssl=tls,
            limit=concurrency,
            **({"keepalive_timeout": KEEP_ALIVE} if reuse else {"force_close": True}),
        )
        line = min(limits.headers, HEADER_LINE)
        self._reading: dict[str, Any] = {
            "read_until_eof": True,
            "auto_decompress": False,
            "read_timeout": limits.read,
            "max_line_size": line,
            "max_field_size": line,
            "max_headers": HEADER_LINES,
        }
        self._deadlines = Deadlines(limits.total)
        self._connect = self._connect_within(limits.total)

    def _connect_within(self, seconds: float) -> aiohttp.ClientTimeout:
        connect = min(self._limits.connect, 0.9 * seconds)
        return aiohttp.ClientTimeout(connect=connect, sock_connect=connect, ceil_threshold=_EXACT)

    async def close(self) -> None:
        """Close the connections."""
        await self._connector.close()
        await self._resolver.close()

    def send(self, request: OutgoingRequest) -> Coroutine[Any, Any, Answer]:
        """The answer, after permitted redirects; raises Fault if there is none."""
        if not self._limits.redirects:
            return self._exchange(request, self._deadlines.limit(), self._connect)
        return self._followed(request, time.monotonic() + self._limits.total)

    async def _followed(self, request: OutgoingRequest, deadline: float) -> Answer:
        answer = await self._exchange(request, self._deadlines.limit(), self._connect)
        for _ in range(self._limits.redirects):
            try:
                hop = next_hop(request, answer.status, answer.headers.get("location"))
            except ValueError as refusal:
                raise fault_of(refusal, request.url, self._limits.total) from None
            if hop is None:
                break
            hops, request = [*answer.hops, hop.shown_url], hop
            left = max(deadline - time.monotonic(), 0.001)
            try:
                answer = await self._exchange(request, Deadlines(left).limit(), self._connect_within(left))
            except Fault as fault:
                fault.sent = True  # the previous hop was sent
                raise
            answer.hops = hops
        return answer

    async def _exchange(
        self, request: OutgoingRequest, limit: Limit, connect: aiohttp.ClientTimeout
    ) -> Answer:
        """Send one request and return its answer."""
        answer: Answer | None = None
        try:
            self._resolver.admit_literal(request.url)
            route = self._routes(request.url)
            data = written(request, route.headers["Host"], close=not self._reuse)
            with limit:
                connection = await self._connected(route, connect)
                try:
                    protocol = connection.protocol
                    if protocol is not None:
                        protocol.set_response_params(skip_payload=request.method == "HEAD", **self._reading)
                    message, body = await exchanged(protocol, data)
                    answer = Answer(message.code, message.reason or "", message.headers)
                    await self._fill(answer, body)
                    if at_rest(protocol, body) and self._connector.reusable(route):
                        connection.release()
                finally:
                    connection.close()  # no effect if released; otherwise it is not at rest and is dropped
        except EXPECTED as error:
            if answer is None:
                raise fault_of(error, request.url, self._limits.total) from None
            answer.fault = answer.fault or broken_body(error, self._limits.total)
        return answer

    async def _connected(self, route: aiohttp.ClientRequest, within: aiohttp.ClientTimeout) -> "Connection":
        try:
            return await self._connector.connect(route, [], within)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError from error

    async def _fill(self, answer: Answer, body: aiohttp.StreamReader) -> None:
        """Read the body up to the limit; if there is more, the connection is closed, not drained."""
        taken, limit = bytearray(), self._limits.answer
        try:
            if not await take(body, limit, taken):
                answer.fault = f"the body has more than {limit} bytes"
        finally:
            answer.body = bytes(taken)
            encoding = answer.headers.get("content-encoding")
            if encoding is not None:
                answer.body, fault = unpacked(answer.body, encoding, limit)
                answer.fault = answer.fault or fault
