"""awa (PyPI: awa-pg), its engine in Rust behind the Python client, polling as often as it allows."""

import asyncio
import sys
from dataclasses import dataclass

from awa import AsyncClient
from talk import Stopwatch


@dataclass
class Noop:
    n: int


async def main(url: str, count: int, every: float) -> None:
    watch = Stopwatch()
    client = AsyncClient(url)
    await client.migrate()

    @client.task(Noop, queue="noop")
    async def noop(job):
        watch.entered(job.args.n)

    await client.start([("noop", 100)], poll_interval_ms=50)
    await watch.run(lambda n: client.insert(Noop(n), queue="noop"), count, every)
    await client.shutdown()


asyncio.run(main(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) / 1000))
