"""Signalbox spawned on a database with something to show, and a real browser in front of it."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance.pages.scene import Scene, set_up
from tests.deployment.deployment import Deployment
from tests.deployment.ready import ready
from tests.parts.browser import Chromium
from tests.parts.database import Database, Template
from tests.parts.need import obtain
from tests.parts.ports import free_port
from tests.waiting import until

PICTURES = Path(__file__).parents[3] / "results" / "pages"


@dataclass
class Site:
    """A signalbox that serves."""

    origin: str
    deployment: Deployment

    @property
    def database(self) -> Database:
        return self.deployment.database


def serve(deployment: Deployment, role: str) -> Site:
    """Start signalbox for anybody on this machine, with that role."""
    port = free_port()
    settings = {
        "listen": {"port": port},
        "access": {"anonymous": role},
        "poll": "100ms",
        "health": {"port": None},
    }
    deployment.configure({"signalbox": settings})
    program = deployment.program("signalbox")
    program.start()
    site = Site(f"http://127.0.0.1:{port}", deployment)

    def answers() -> bool:
        assert program.running(), program.log.read_text()[-2000:]
        return ready(site.origin)

    until(answers)
    return site


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    """Not longer than a module: while it is open, this thread has a running event loop."""
    with closing(obtain("Chromium", Chromium)) as browser:
        yield browser


@pytest.fixture(scope="module")
def site(template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A signalbox for an admin, with the scene in its database."""
    with (
        template.clone() as database,
        closing(Deployment(database, tmp_path_factory.mktemp("pages"))) as deployment,
    ):
        yield serve(deployment, "admin")


@pytest.fixture(scope="module")
def scene(site: Site) -> Scene:
    return set_up(site.database, site.deployment.store)


@pytest.fixture
def empty(database: Database, tmp_path: Path) -> Iterator[Site]:
    """A signalbox on a database in which nothing has happened yet."""
    with closing(Deployment(database, tmp_path)) as deployment:
        yield serve(deployment, "admin")
