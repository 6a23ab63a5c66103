"""Signalbox's application on a real database, called in process."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from signalbox.app import build
from signalbox.program import make_site
from switchyard.config.config import Config
from switchyard.places import Places
from switchyard.store import Store, open_store
from switchyard.tokens import hash_of, new_token
from tests.parts.database import Database

Connect = Callable[..., Awaitable[httpx.AsyncClient]]
Token = Callable[..., dict[str, str]]
ABOUT = {
    "title": "Nutrient assessment",
    "version": "7",
    "input": {
        "type": "object",
        "properties": {"scene": {"type": "string", "title": "Scene"}, "edition": {"type": "integer"}},
        "required": ["scene"],
    },
    "output": {"type": "object", "properties": {"summary": {"type": "object"}, "sites": {"type": "array"}}},
}


class Jobs:
    """Jobs of the process `nutrient`, and how they end."""

    def __init__(self, database: Database, store: Store) -> None:
        self.database, self.store = database, store
        for name, about in (("nutrient", json.dumps(ABOUT)), ("plain", None)):
            database.execute("insert into switchyard.route values (%s, 'run', %s) returning 1", name, about)

    def submit(self, workflow: str = "nutrient", **parameters: Any) -> str:
        ((job,),) = self.database.execute(
            "select switchyard.submit(workflow => %s, parameters => %s)", workflow, json.dumps(parameters)
        )
        return str(job)

    def report(self, job: str, status: str, error: str | None = None) -> None:
        self.database.execute(
            "insert into switchyard.event (action_uuid, status, error) values (%s, %s::text::switchyard.status, %s)"
            " returning 1", job, status, error,
        )  # fmt: skip

    def succeed(self, job: str, output: Any) -> None:
        self.store.put(Places(UUID(job), 1).output, json.dumps(output).encode())
        self.report(job, "SUCCESSFUL")


@pytest.fixture
def jobs(database: Database, tmp_path: Path) -> Jobs:
    """Two announced processes: one with schemas, one without."""
    return Jobs(database, open_store((tmp_path / "store").as_uri()))


@pytest.fixture
def token(database: Database) -> Token:
    """Makes a token with a role; the headers of who has it."""

    def make(role: str, name: str | None = None, expires: str = "infinity") -> dict[str, str]:
        made = new_token()
        database.execute(
            "select switchyard.add_token(%s, %s, %s, %s, 'test')", name or role, hash_of(made), role, expires
        )
        return {"Authorization": f"Bearer {made}"}

    return make


@pytest.fixture
async def connect(database: Database, tmp_path: Path) -> AsyncIterator[Connect]:
    """Starts an application with these settings of `signalbox:`; its client."""
    async with AsyncExitStack() as stack:

        async def connect(url: str = database.url, **settings: Any) -> httpx.AsyncClient:
            content = {"database": {"url": "env:DATABASE_URL"}, "store": (tmp_path / "store").as_uri()}
            settings = {"access": {"anonymous": "admin"}, **settings}
            config = Config.model_validate({**content, "signalbox": settings})
            site = make_site(config, url)
            await site.database.open()
            stack.push_async_callback(site.database.close)
            transport = httpx.ASGITransport(build(site), raise_app_exceptions=False)
            client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")
            client.site = site  # type: ignore[attr-defined]
            return await stack.enter_async_context(client)

        yield connect


@pytest.fixture
async def client(connect: Connect) -> httpx.AsyncClient:
    """A client of an application that is open to everyone on this machine."""
    return await connect()
