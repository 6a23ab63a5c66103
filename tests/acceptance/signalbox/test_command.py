"""`signalbox run`, spawned."""

from pathlib import Path

import httpx

from tests.deployment.deployment import Deployment
from tests.deployment.ready import ready
from tests.parts.database import Database
from tests.parts.ports import free_port
from tests.waiting import until


def test_it_serves_until_sigterm(database: Database, tmp_path: Path) -> None:
    port = free_port()
    settings = {"listen": {"port": port}, "access": {"anonymous": "reader"}, "health": {"port": None}}
    deployment = Deployment(database, tmp_path, {"signalbox": settings})
    program = deployment.program("signalbox")
    program.start()
    try:
        until(lambda: ready(f"http://127.0.0.1:{port}"))
        page = httpx.get(f"http://127.0.0.1:{port}/jobs", headers={"Accept": "text/html"})
        assert "No jobs yet" in page.text
        assert page.headers["content-security-policy"].startswith("default-src 'none'")
        assert program.stop() == 0
    finally:
        deployment.close()


def test_it_refuses_anonymous_access_beyond_loopback(database: Database, tmp_path: Path) -> None:
    settings = {"listen": {"host": "0.0.0.0"}, "access": {"anonymous": "reader"}}
    deployment = Deployment(database, tmp_path, {"signalbox": settings})
    refused = deployment.run("signalbox", "run", "-c", deployment.file)
    assert refused.returncode == 78
    assert "loopback" in refused.stderr
