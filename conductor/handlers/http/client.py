"""One HTTP exchange: vetted, bounded in time and size, and sent once.

aiohttp repeats a GET, PUT or DELETE by itself when a pooled connection turns out to be dead. It does so on
two error types; OnceResponse turns these into one it does not know, so nothing here is ever sent twice.
"""

import ssl
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp

from conductor.handlers.http.address import Policy
from conductor.handlers.http.answer import Answer
from conductor.handlers.http.body import take, unpacked
from conductor.handlers.http.connector import QuietConnector
from conductor.handlers.http.fault import EXPECTED, Fault, Interrupted, broken_body, fault_of
from conductor.handlers.http.outgoing import Outgoing
from conductor.handlers.http.redirect import next_hop
from conductor.handlers.http.resolver import CACHE_SECONDS, VettedResolver

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


class OnceResponse(aiohttp.ClientResponse):
    """Hides from aiohttp the two errors on which it would send an idempotent request again.

    Whatever it repeats a request for surfaces while it waits for the answer's head, which is here; errors of
    the connect and of writing to a closed connection are of other types, and end the request at once.
    """

    async def start(self, connection: "Connection") -> aiohttp.ClientResponse:
        """Wait for the head of the answer."""
        try:
            return await super().start(connection)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            raise Interrupted from error


class Client:
    """A session with its own pool, resolver and TLS settings; no cookies, no proxy from the environment."""

    def __init__(
        self, policy: Policy, tls: ssl.SSLContext, limits: Limits, *, concurrency: int, reuse: bool
    ) -> None:
        self._limits = limits
        self._resolver = VettedResolver(policy)
        connector = QuietConnector(
            resolver=self._resolver,
            ttl_dns_cache=CACHE_SECONDS,
            socket_factory=self._resolver.socket_for,
            ssl=tls,
            limit=concurrency,
            **({"keepalive_timeout": KEEP_ALIVE} if reuse else {"force_close": True}),
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            max_line_size=min(limits.headers, HEADER_LINE),
            max_field_size=min(limits.headers, HEADER_LINE),
            max_headers=HEADER_LINES,
            response_class=OnceResponse,
        )
        self._timeout = self._within(limits.total)

    def _within(self, seconds: float) -> aiohttp.ClientTimeout:
        connect = min(self._limits.connect, 0.9 * seconds)
        return aiohttp.ClientTimeout(
            total=seconds,
            connect=connect,
            sock_connect=connect,
            sock_read=self._limits.read,
            ceil_threshold=_EXACT,
        )

    async def close(self) -> None:
        """Drop the connections."""
        await self._session.close()
        await self._resolver.close()

    def send(self, request: Outgoing) -> Coroutine[Any, Any, Answer]:
        """The answer, after the redirects that are allowed; Fault where there is none."""
        if not self._limits.redirects:
            return self._exchange(request, self._timeout)
        return self._followed(request, time.monotonic() + self._limits.total)

    async def _followed(self, request: Outgoing, deadline: float) -> Answer:
        answer = await self._exchange(request, self._timeout)
        for _ in range(self._limits.redirects):
            try:
                hop = next_hop(request, answer.status, answer.headers.get("location"))
            except ValueError as refusal:
                raise fault_of(refusal, request.url, self._limits.total) from None
            if hop is None:
                break
            hops, request = [*answer.hops, hop.shown_url], hop
            try:
                answer = await self._exchange(request, self._within(max(deadline - time.monotonic(), 0.001)))
            except Fault as fault:
                fault.sent = True  # the hop before went out
                raise
            answer.hops = hops
        return answer

    async def _exchange(self, request: Outgoing, timeout: aiohttp.ClientTimeout) -> Answer:  # noqa: ASYNC109
        """One request and its answer."""
        answer: Answer | None = None
        try:
            self._resolver.admit_literal(request.url)
            async with self._session.request(
                request.method,
                request.url,
                headers=request.headers,
                data=request.body or None,
                allow_redirects=False,
                timeout=timeout,
            ) as response:
                answer = Answer(response.status, response.reason or "", response.headers)
                await self._fill(answer, response)
        except EXPECTED as error:
            if answer is None:
                raise fault_of(error, request.url, self._limits.total) from None
            answer.fault = answer.fault or broken_body(error, self._limits.total)
        return answer

    async def _fill(self, answer: Answer, response: aiohttp.ClientResponse) -> None:
        """Take the body as far as the limit goes; a connection with more to come is dropped, not drained."""
        taken, limit = bytearray(), self._limits.answer
        try:
            if not await take(response.content, limit, taken):
                answer.fault = f"the body has more than {limit} bytes"
                response.close()
        finally:
            answer.body = bytes(taken)
            encoding = answer.headers.get("content-encoding")
            if encoding is not None:
                answer.body, fault = unpacked(answer.body, encoding, limit)
                answer.fault = answer.fault or fault
