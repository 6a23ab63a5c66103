"""The time of a page, and the part of it that waits for statements, with signalbox in this process."""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg

from signalbox.app import build
from signalbox.program import make_site
from switchyard.config.config import Config

ROUNDS = 20
MIDDLE = """
    select action_uuid from switchyard.action
    where action_uuid > switchyard.uuid_floor(now() - interval '18 days') and workflow is not null order by 1 limit 1
"""


class Spent:
    """The seconds that statements took."""

    seconds = 0.0


@contextmanager
def counted() -> Iterator[Spent]:
    """Counts while it is open."""
    spent, execute = Spent(), psycopg.AsyncConnection.execute

    async def timed(self: Any, *given: Any, **more: Any) -> Any:
        began = time.perf_counter()
        try:
            return await execute(self, *given, **more)
        finally:
            spent.seconds += time.perf_counter() - began

    psycopg.AsyncConnection.execute = timed  # type: ignore[method-assign]
    try:
        yield spent
    finally:
        psycopg.AsyncConnection.execute = execute  # type: ignore[method-assign]


async def pages(url: str, folder: Path) -> dict[str, tuple[float, float]]:
    """The seconds of each page, and of its statements."""
    with psycopg.connect(url) as connection:
        row = connection.execute(MIDDLE).fetchone()
    assert row is not None
    wanted = {
        "newest jobs": "/jobs",
        "middle jobs": f"/jobs?before={row[0]}",
        "job": f"/jobs/{row[0]}",
        "inbox": "/inbox",
    }
    config = Config.model_validate(
        {"store": folder.as_uri(), "signalbox": {"access": {"anonymous": "admin"}}}
    )
    site = make_site(config, url)
    await site.database.open()
    try:
        transport = httpx.ASGITransport(build(site))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return {name: await _median(client, path) for name, path in wanted.items()}
    finally:
        await site.database.close()


async def _median(client: httpx.AsyncClient, path: str) -> tuple[float, float]:
    took = []
    for _ in range(ROUNDS + 2):
        began = time.perf_counter()
        with counted() as spent:
            answer = await client.get(path, headers={"Accept": "text/html"})
        took.append((time.perf_counter() - began, spent.seconds))
        assert answer.status_code == 200, path
    return statistics.median(t for t, _ in took[2:]), statistics.median(s for _, s in took[2:])
