"""What the deliveries are measured against: a bare aiohttp loop, and the receiver that both sides post to."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from benchmarks.http.webhook import by_hand


@dataclass(frozen=True, slots=True)
class Turn:
    """Deliveries a second, and microseconds of the sender's processor time for each."""

    rate: float
    cpu: float


@asynccontextmanager
async def receiver() -> AsyncIterator[str]:
    """A server process; its URL."""
    command = [sys.executable, "-m", "benchmarks.http.server"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield f"http://127.0.0.1:{(await process.stdout.readline()).decode().strip()}/hook"
    finally:
        process.stdin.close()
        await process.wait()


class Bare:
    """A session that keeps its connections from turn to turn."""

    def __init__(self, session: aiohttp.ClientSession, url: str, in_flight: int) -> None:
        self._session, self._url, self._in_flight = session, url, in_flight

    async def post(self, count: int) -> Turn:
        """This many signed webhooks, `in_flight` at once, and every answer read."""
        left = iter(range(count))
        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(self._slot(left) for _ in range(self._in_flight)))
        return Turn(count / (time.perf_counter() - began), (time.process_time() - cpu) / count * 1e6)

    async def _slot(self, left: Iterator[int]) -> None:
        for _ in left:
            body, headers = by_hand()
            async with self._session.post(self._url, data=body, headers=headers) as response:
                assert response.status == 200
                await response.read()


@asynccontextmanager
async def bare_loop(url: str, in_flight: int) -> AsyncIterator[Bare]:
    """The loop, open."""
    connector = aiohttp.TCPConnector(limit=in_flight, keepalive_timeout=60)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield Bare(session, url, in_flight)
