"""A TCP proxy between a program and a real part, for what networks do.

Bytes pass as they come. A test may `delay` them; `cut` the connections there are (both sides see a
reset); go `silent` (both sides stay connected, new connections are accepted, and nobody hears anything,
as behind a firewall that forgot the flow); `refuse` new connections; and `resume` from all of these.
What was sent while silent is passed on late, by `resume`: a message may outlive its sender's patience.
"""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Coroutine
from typing import Any, Self, TypeVar

from tests.parts.ports import free_port

T = TypeVar("T")

CHUNK = 65536
RESET = struct.pack("ii", 1, 0)  # linger on, for no time: close() sends RST instead of FIN


class Proxy:
    """Listens on a loopback port of its own and passes on to `host:upstream`; a context manager."""

    def __init__(self, upstream: int, host: str = "127.0.0.1") -> None:
        self.upstream = (host, upstream)
        self.port = free_port()
        self.accepted = 0
        self._delay = 0.0
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._loop = asyncio.new_event_loop()
        self._gate = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.resume()
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def delay(self, seconds: float) -> None:
        """Hold back every chunk for so long, in each direction."""
        self._delay = seconds

    def silence(self) -> None:
        """From now on nothing is forwarded, and no connection is closed."""
        self._call(self._set_gate(open_=False))

    def cut(self) -> None:
        """Reset the connections there are; new ones are accepted."""
        self._call(self._cut())

    def refuse(self) -> None:
        """Reset the connections there are and refuse new ones."""
        self._call(self._refuse())

    def resume(self) -> None:
        """Pass on everything again, at once."""
        self._delay = 0.0
        self._call(self._resume())

    def far_ports(self) -> list[int]:
        """The ports from which we are connected to the other side now: how the server knows these clients."""
        return self._call(self._far_ports())

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _set_gate(self, *, open_: bool) -> None:
        if open_:
            self._gate.set()
        else:
            self._gate.clear()

    async def _resume(self) -> None:
        await self._set_gate(open_=True)
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)

    async def _far_ports(self) -> list[int]:
        ends = [
            (writer.get_extra_info("peername"), writer.get_extra_info("sockname")) for writer in self._writers
        ]
        return [near[1] for far, near in ends if far and tuple(far[:2]) == self.upstream]

    async def _cut(self) -> None:
        for writer in self._writers:
            connection: socket.socket = writer.get_extra_info("socket")
            if connection.fileno() != -1:  # else it has closed already, and its pump is about to notice
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.transport.abort()
        self._writers.clear()

    async def _refuse(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        await self._cut()

    async def _close(self) -> None:
        await self._refuse()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            await self._pass_on(reader, writer)
        except (OSError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._writers.discard(writer)
            self._tasks.discard(task)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._gate.wait()
        far_reader, far_writer = await asyncio.open_connection(*self.upstream)
        self._writers.add(far_writer)
        try:
            await asyncio.gather(self._pump(reader, far_writer), self._pump(far_reader, writer))
        finally:
            self._writers.discard(far_writer)
            far_writer.transport.abort()
            writer.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):  # a reset is an end like any other, and passed on as one
            while chunk := await reader.read(CHUNK):
                if self._delay:
                    await asyncio.sleep(self._delay)
                await self._gate.wait()
                writer.write(chunk)
                await writer.drain()
        await self._gate.wait()  # in the silence nobody hears that the other has gone, either
        if writer.can_write_eof() and not writer.transport.is_closing():
            writer.write_eof()
