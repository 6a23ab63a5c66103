"""One HTTP exchange: vetted, bounded in time and size, and sent once."""

import ssl
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp

from switchyard.backends.http.address import Policy
from switchyard.backends.http.answer import Answer
from switchyard.backends.http.body import take, unpacked
from switchyard.backends.http.connector import QuietConnector
from switchyard.backends.http.fault import EXPECTED, Fault, broken_body, fault_of
from switchyard.backends.http.outgoing import Outgoing
from switchyard.backends.http.redirect import next_hop
from switchyard.backends.http.resolver import CACHE_SECONDS, VettedResolver
from switchyard.backends.http.wire import Routes, at_rest, exchanged, written
from switchyard.process.deadline import Deadlines, Limit

if TYPE_CHECKING:
    from aiohttp.connector import Connection

KEEP_ALIVE = 4.0  # seconds; shorter than what servers keep, so that a connection is rarely found dead
HEADER_LINES = 100
HEADER_LINE = 8190  # bytes
_EXACT = 1e9  # aiohttp rounds time-outs above this many seconds up to whole ones; we want them exact


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much. `connect` ends before `total` does: then nothing was sent, for sure."""

    connect: float
    read: float | None
    total: float
    answer: int  # bytes of the body
    headers: int = HEADER_LINE  # bytes of one header
    redirects: int = 0


class Client:
    """Connections with their own pool, resolver and TLS settings; no cookies, no proxy of the environment."""

    def __init__(
        self, policy: Policy, tls: ssl.SSLContext, limits: Limits, *, concurrency: int, reuse: bool
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
        """Drop the connections."""
        await self._connector.close()
        await self._resolver.close()

    def send(self, request: Outgoing) -> Coroutine[Any, Any, Answer]:
        """The answer, after the redirects that are allowed; Fault where there is none."""
        if not self._limits.redirects:
            return self._exchange(request, self._deadlines.limit(), self._connect)
        return self._followed(request, time.monotonic() + self._limits.total)

    async def _followed(self, request: Outgoing, deadline: float) -> Answer:
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
                fault.sent = True  # the hop before went out
                raise
            answer.hops = hops
        return answer

    async def _exchange(self, request: Outgoing, limit: Limit, connect: aiohttp.ClientTimeout) -> Answer:
        """One request and its answer."""
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
                    connection.close()  # nothing, where it was released: what is not at rest is dropped
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
        """Take the body as far as the limit goes; a connection with more to come is dropped, not drained."""
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
