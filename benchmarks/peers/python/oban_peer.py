"""oban-py on uvloop, as its own command runs it, without the pause that gathers several notifications."""

import sys

import uvloop
from oban import Oban, schema, worker
from psycopg_pool import AsyncConnectionPool
from talk import Stopwatch

watch = Stopwatch()


@worker(queue="default")
class Noop:
    async def process(self, job):
        watch.entered(job.args["n"])


async def main(url: str, count: int, every: float) -> None:
    async with AsyncConnectionPool(url, min_size=4, max_size=10, open=False) as pool:
        await schema.install(pool)
        async with Oban(pool=pool, queues={"default": {"limit": 100, "debounce_interval": 0.0}}):
            await watch.run(lambda n: Noop.enqueue({"n": n}), count, every)


uvloop.run(main(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) / 1000))
