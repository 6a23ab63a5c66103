"""P11: signalbox: submissions beside plain SQL, pages beside a long history, many watchers of one page.

python -m benchmarks.signalbox [--submissions 2000] [--connections 8] [--watchers 1000] [--history 10000000]

Submissions: `select switchyard.submit(…)` and `POST …/execution` over the same number of connections, in turns.
Pages: medians of 20 requests with 10,000 ended jobs, and with the whole history, both in 36 partitions, with 1,000 failed
ones in the inbox; "in the database" is the part of it that waits for statements. Watchers: the processor time and the memory
of signalbox while this many streams of `/queues` are open and something changes twice a second; afterwards, how many of its
connections send anything.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import psutil
import psycopg
import yaml

from benchmarks.ledger import past
from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server, settle_down
from benchmarks.signalbox.timed import pages
from switchyard.ledger.migrate import upgrade
from tests.parts.ports import free_port

BODY = {"inputs": {"scene": "S2A"}}
FEW = 10_000
UNWATCHED = 5.0
# The oldest ones; without the triggers, as the rest of the history.
FAILURES = """
set session_replication_role = replica;
update switchyard.thread set status = 'FAILED', needs_review = true, error = 'exit code 4: no overlap', cause = 'exit code 4: no overlap'
where action_uuid in (select action_uuid from switchyard.thread order by 1 limit 1000)
"""
USED = "select count(*) from pg_stat_activity where application_name like 'signalbox%%' and query_start > %s"


class Site:
    """A signalbox of the benchmark's own."""

    def __init__(self, url: str, folder: Path) -> None:
        self.database, port = url, free_port()
        self.url = f"http://127.0.0.1:{port}"
        settings = {"listen": {"port": port}, "access": {"anonymous": "admin"}, "health": {"port": None}}
        file = folder / "switchyard.yaml"
        file.write_text(
            yaml.safe_dump(
                {"database": {"url": "env:DATABASE_URL"}, "store": folder.as_uri(), "signalbox": settings}
            )
        )
        self.process = subprocess.Popen(
            [Path(sys.executable).parent / "signalbox", "run", "-c", file],
            env={"PATH": os.environ["PATH"], "DATABASE_URL": url}, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    async def ready(self, client: aiohttp.ClientSession) -> None:
        """Until it answers."""
        for _ in range(300):
            try:
                async with client.get(f"{self.url}/readyz") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.1)
        raise TimeoutError("signalbox does not answer")

    def close(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait(30)


async def rate(count: int, connections: int, one: Callable[[int], Awaitable[None]]) -> float:
    """Calls per second, this many at once."""

    async def worker(number: int) -> None:
        for _ in range(count // connections):
            await one(number)

    began = time.monotonic()
    await asyncio.gather(*(worker(number) for number in range(connections)))
    return count / (time.monotonic() - began)


async def submissions(site: Site, client: aiohttp.ClientSession, options: argparse.Namespace) -> list[Figure]:
    """Plain SQL and HTTP, in turns."""
    pairs = []
    async with AsyncExitStack() as stack:
        direct = [
            await stack.enter_async_context(
                await psycopg.AsyncConnection.connect(site.database, autocommit=True)
            )
            for _ in range(options.connections)
        ]

        async def by_sql(number: int) -> None:
            await direct[number].execute(
                "select switchyard.submit(workflow => 'w', parameters => '{\"scene\": \"S2A\"}')"
            )

        async def by_http(_number: int) -> None:
            async with client.post(f"{site.url}/processes/w/execution", json=BODY) as answer:
                assert answer.status == 201, await answer.text()
                await answer.read()

        for _ in range(3):
            plain = await rate(options.submissions, options.connections, by_sql)
            pairs.append((await rate(options.submissions, options.connections, by_http), plain))
    chart = f"Submissions a second over {options.connections} connections"
    return [
        Figure("POST execution", statistics.median(ours for ours, _ in pairs), "1/s", chart=chart),
        Figure(
            "select switchyard.submit", statistics.median(plain for _, plain in pairs), "1/s", chart=chart
        ),
        Figure(
            "POST beside SQL", statistics.median(ours / plain for ours, plain in pairs), "x", at_least=0.5
        ),
    ]


def fill(url: str, count: int) -> None:
    """This many more ended jobs in the partitions of the past."""
    with psycopg.connect(url, autocommit=True) as connection:
        past.threads(connection, count, "w")
    settle_down(url)


async def history(site: Site, folder: Path, options: argparse.Namespace) -> list[Figure]:
    """Pages beside few and many ended jobs."""
    with psycopg.connect(site.database, autocommit=True) as connection:
        past.partitions(connection)
    fill(site.database, FEW)
    with psycopg.connect(site.database, autocommit=True) as connection:
        connection.execute(FAILURES)
    few = await pages(site.database, folder)
    fill(site.database, options.history - FEW)
    many = await pages(site.database, folder)
    found = []
    for name, (whole, inside) in many.items():
        found += [
            Figure(f"{name} with {options.history:,} jobs", 1000 * whole, "ms", at_most=60),
            Figure(f"{name}: in the database", 1000 * inside, "ms", at_most=30),
            Figure(f"{name}: in the database, beside {FEW:,} jobs", inside / few[name][1], "x", at_most=1.5),
        ]
    return found


async def watchers(site: Site, options: argparse.Namespace) -> list[Figure]:
    """What this many streams cost."""
    process = psutil.Process(site.process.pid)
    before = process.memory_info().rss
    unlimited = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(
        connector=unlimited, timeout=aiohttp.ClientTimeout(total=None)
    ) as client:
        streams = [await client.get(f"{site.url}/stream?path=/queues") for _ in range(options.watchers)]
        drains = [asyncio.create_task(_drain(stream)) for stream in streams]
        await asyncio.sleep(2)
        spent, began = sum(process.cpu_times()[:2]), time.monotonic()
        async with await psycopg.AsyncConnection.connect(site.database, autocommit=True) as connection:
            for _ in range(20):
                await connection.execute("select switchyard.submit('run')")
                await asyncio.sleep(0.5)
        share = (sum(process.cpu_times()[:2]) - spent) / (time.monotonic() - began)
        memory = (process.memory_info().rss - before) / 2**20
        assert not any(drain.done() for drain in drains), "a stream ended early"
        for drain in drains:
            drain.cancel()
    used = await unwatched(site)
    return [
        Figure(f"processor with {options.watchers:,} watchers", share, "cores", at_most=0.25),
        Figure(f"memory of {options.watchers:,} watchers", memory, "MiB", at_most=100),
        Figure(f"connections used in {UNWATCHED:g} s without watchers", used, "", at_most=0),
    ]


async def unwatched(site: Site) -> int:
    """How many connections of signalbox send a statement while nobody watches."""
    await asyncio.sleep(2)  # the poller ends
    async with await psycopg.AsyncConnection.connect(site.database, autocommit=True) as connection:
        began = await (await connection.execute("select clock_timestamp()")).fetchone()
        await asyncio.sleep(UNWATCHED)
        row = await (await connection.execute(USED, began)).fetchone()
    assert row is not None
    return int(row[0])


async def _drain(stream: aiohttp.ClientResponse) -> None:
    async for _ in stream.content.iter_any():
        continue


async def measure(options: argparse.Namespace, url: str, folder: Path) -> list[Figure]:
    """All of it, on one signalbox."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("insert into switchyard.route values ('w', 'run', null)")
    site = Site(url, folder)
    try:
        async with aiohttp.ClientSession() as client:
            await site.ready(client)
            found = await submissions(site, client, options)
            found += await history(site, folder, options)
            return found + await watchers(site, options)
    finally:
        site.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--submissions", type=int, default=2000)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--watchers", type=int, default=1000)
    parser.add_argument("--history", type=int, default=100_000)
    options = parser.parse_args()
    with server() as on, tempfile.TemporaryDirectory() as folder:
        url = fresh(on)
        upgrade(url)
        found = asyncio.run(measure(options, url, Path(folder)))
    publish("P11 signalbox", found)


if __name__ == "__main__":
    main()
