"""A real STAC API: stac-fastapi on pgstac, in an environment of its own, on Debian's Postgres with PostGIS.

Its packages are pinned by stac/requirements.lock, which stac/requirements.in is compiled to with the options
that `make lock` uses. They are none of the project's own dependencies.
"""

import hashlib
import json
import sys
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.parts.cache import UnavailableError, cached, run
from tests.parts.http import until_answers
from tests.parts.ports import free_port
from tests.parts.postgres import UNSAFE, Server, binaries
from tests.parts.process import Process

LOCK = Path(__file__).parent / "stac" / "requirements.lock"
POSTGIS = Path("/usr/share/postgresql/15/extension/postgis.control")


def environment() -> Path:
    """The folder of the environment's Python, the one that made it; the first time its packages are downloaded."""
    known = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]
    return cached(f"stac-{known}", _install) / "bin"


class StacApi:
    """A STAC API with the Transaction extension; `.url` is its root, `.collection()` makes one to use."""

    def __init__(self) -> None:
        if not POSTGIS.exists():
            raise UnavailableError("postgresql-15-postgis-3 is not installed")
        python = environment() / "python"
        self.server = Server(binaries("15"), UNSAFE)
        self.server.start()
        settings = {
            "PGHOST": "127.0.0.1",
            "PGPORT": str(self.server.port),
            "PGUSER": "postgres",
            "PGPASSWORD": "unused",
            "PGDATABASE": "postgres",
        }
        run([python, "-m", "pypgstac.pypgstac", "migrate"], cwd=self.server.folder, env=settings)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        program = ["--factory", "stac_fastapi.pgstac.app:create_app", "--host", "127.0.0.1", "--port", port]
        self.process = Process(
            "stac",
            [python, "-m", "uvicorn", *map(str, program)],
            env={**settings, "ENABLE_TRANSACTIONS_EXTENSIONS": "TRUE"},
            cwd=self.server.folder,
        )
        self.process.start()
        until_answers(self.process, f"{self.url}/_mgmt/health")

    def collection(self) -> str:
        """The name of a new, empty collection."""
        name = f"c-{uuid4().hex}"
        extent = {"spatial": {"bbox": [[-180, -90, 180, 90]]}, "temporal": {"interval": [[None, None]]}}
        described = {"type": "Collection", "stac_version": "1.0.0", "description": "of a test", "links": []}
        self.ask("/collections", described | {"id": name, "license": "other", "extent": extent})
        return name

    def load(self, collection: str, items: Iterable[Mapping[str, Any]]) -> None:
        """Insert or replace whole items, all in one request."""
        by_id = {item["id"]: item for item in items}
        self.ask(f"/collections/{collection}/bulk_items", {"items": by_id, "method": "upsert"})

    def items(self, collection: str) -> dict[str, Any]:
        """The first 100 items of the collection, by id."""
        found = self.ask(f"/collections/{collection}/items?limit=100")
        return {item["id"]: item for item in found["features"]}

    def ask(self, path: str, body: Any = None) -> Any:
        """A GET, or a POST where there is a body; what it answers. An error is an exception."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def close(self) -> None:
        self.process.stop()
        self.server.close()


def _install(into: Path) -> None:
    run([sys.executable, "-m", "venv", "--without-pip", into], cwd=into)
    uv = Path(sys.executable).with_name("uv")
    # Its files are found by the path of its Python, not by an address written into them: it may be moved.
    wanted: list[str | Path] = ["--python", into / "bin" / "python", "--require-hashes", "-r", LOCK]
    run([uv, "pip", "install", "--quiet", *wanted], cwd=into, env={"UV_SYSTEM_CERTS": "true"})
