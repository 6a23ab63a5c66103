"""A web server that counts, by lane, the requests that are open at it.

A request is open from its arrival until it is answered or its sender hangs up, as a killed conductor does.
"""

import asyncio
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Lanes:
    """What is open now, the most that ever was, and when each request came."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.open: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.most_at_once = 0
        self.times: dict[str, list[float]] = defaultdict(list)
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection; each request is for the lane that its path names."""
        with suppress(OSError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                lane = head.split(b" ", 2)[1].decode().split("/")[1]
                await reader.readexactly(_length(head))
                if not await self._work(lane, reader):
                    break
                writer.write(ANSWER)
        writer.close()

    async def _work(self, lane: str, reader: asyncio.StreamReader) -> bool:
        self.open[lane] += 1
        self.most[lane] = max(self.most[lane], self.open[lane])
        self.most_at_once = max(self.most_at_once, self.open.total())
        self.times[lane].append(time.monotonic())
        try:
            async with asyncio.timeout(self._seconds):
                await reader.read(1)  # nothing comes before the answer: it has hung up
        except TimeoutError:
            return True
        finally:
            self.open[lane] -= 1
        return False


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


@contextmanager
def lanes(seconds: float) -> Iterator[Lanes]:
    """A started one; each request takes so long."""
    made = Lanes(seconds)
    ready, over = threading.Event(), threading.Event()

    async def run() -> None:
        server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
        made.port = server.sockets[0].getsockname()[1]
        ready.set()
        await asyncio.to_thread(over.wait)
        server.close()

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield made
    finally:
        over.set()
        thread.join(10)
