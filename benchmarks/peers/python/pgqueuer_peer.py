"""pgqueuer on uvloop and asyncpg, with a connection of its own for the inserts."""

import asyncio
import sys
from datetime import timedelta

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries
from talk import Stopwatch


async def main(url: str, count: int, every: float) -> None:
    watch = Stopwatch()
    inserts = Queries(AsyncpgDriver(await asyncpg.connect(url)))
    await inserts.install()
    queuer = PgQueuer(AsyncpgDriver(await asyncpg.connect(url)))

    @queuer.entrypoint("noop")
    async def noop(job: Job) -> None:
        watch.entered(int(job.payload or b""))

    running = asyncio.create_task(queuer.run(dequeue_timeout=timedelta(seconds=2), batch_size=10))
    await watch.run(lambda n: inserts.enqueue("noop", str(n).encode()), count, every)
    queuer.shutdown.set()
    await running


uvloop.run(main(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) / 1000))
