"""Servers on loopback: one that counts what it was asked, and raw ones that say anything at all."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

Speak = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Asked:
    """One request as the server saw it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class CountingServer:
    """Answers what it is told to, and remembers everything."""

    status: int = 200
    body: bytes = b'{"ok": true}'
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    url: str = ""

    async def answer(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append(Asked(request.method, request.path_qs, headers, await request.read()))
        return web.Response(status=self.status, body=self.body, headers=self.headers)


@asynccontextmanager
async def counting(
    server: CountingServer | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[CountingServer]:
    """A real aiohttp server on a free port."""
    server = server or CountingServer()
    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    port = runner.addresses[0][1]
    server.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}/hook"
    try:
        yield server
    finally:
        await runner.cleanup()


@dataclass
class RawServer:
    """Counts connections and requests; what it says is up to `speak`."""

    port: int = 0
    connections: int = 0
    requests: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """One request with its body; empty when the client has gone."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            head += await reader.readexactly(int(value))
    return head


@asynccontextmanager
async def raw(speak: Speak, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawServer]:
    """A socket server that calls `speak` after each connection's first request."""
    state = RawServer()
    tasks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if await read_request(reader):
                state.requests += 1
                await speak(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.transport.abort()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        state.connections += 1
        tasks[asyncio.create_task(serve(reader, writer))] = writer

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    state.port = server.sockets[0].getsockname()[1]
    try:
        yield state
    finally:
        server.close()
        for task, writer in tasks.items():
            task.cancel()
            writer.transport.abort()  # also where the task never began
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


def says(data: bytes) -> Speak:
    """Say these bytes, then hang up."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        await reader.read()  # until the client has gone: an abort could overtake the data

    return speak
