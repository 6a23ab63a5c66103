"""What the deliveries are measured against: a bare aiohttp loop, and the receiver that both sides post to."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import aiohttp

PARAMETERS: dict[str, Any] = {
    "total": 12.5,
    "status": "SUCCESSFUL",
    "items": list(range(20)),
    "note": "x" * 300,
}


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


async def post_all(url: str, count: int, in_flight: int) -> Turn:
    """Post `count` documents over kept connections, so many at once, and read every answer."""
    left = iter(range(count))

    async def slot() -> None:
        for _ in left:
            body = {"id": str(uuid4()), "status": PARAMETERS["status"], "data": PARAMETERS}
            async with session.post(url, json=body) as response:
                assert response.status == 200
                await response.read()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=in_flight)) as session:
        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(slot() for _ in range(in_flight)))
        return Turn(count / (time.perf_counter() - began), (time.process_time() - cpu) / count * 1e6)
