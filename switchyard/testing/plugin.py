"""The pytest plugin.

| fixture | what a test gets |
| --- | --- |
| `yard` | an `InProcessYard` on `switchyard_url`, with `switchyard_config` |
| `switchyard_url` | the URL of a fresh migrated database; it is dropped after the test |
| `switchyard_config` | override it: the path of your switchyard.yaml, or a mapping like it |
| `switchyard_server` | the URL of the session's server |

The server is an embedded Postgres, or the one that `--switchyard-server URL` names, whose user must be
allowed to create databases. The ini option `switchyard_config` names the configuration file for all tests.
Whatever the file says, the database is the test's own, and the store a folder of the test's.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from switchyard.config.config import Config
    from switchyard.testing.databases import Databases
    from switchyard.testing.yard import InProcessYard

Configured = Path | str | Mapping[str, Any]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("switchyard")
    group.addoption(
        "--switchyard-server",
        metavar="URL",
        help="a Postgres server for the databases of tests, instead of an embedded one",
    )
    parser.addini("switchyard_config", "the configuration file that tests use")


@pytest.fixture(scope="session")
def switchyard_server(pytestconfig: pytest.Config) -> Iterator[str]:
    """The URL of the server with the tests' databases."""
    url = pytestconfig.getoption("--switchyard-server")
    if url:
        yield url
        return
    from switchyard.embedded.postgres import EmbeddedPostgres  # noqa: PLC0415 - only if it is used

    # Not in pytest's own folder: other sessions of root make that inaccessible to other users, and root's
    # server runs as another user.
    with TemporaryDirectory(prefix="switchyard-") as folder, EmbeddedPostgres(Path(folder)) as postgres:
        yield postgres.url


@pytest.fixture(scope="session")
def _switchyard_databases(switchyard_server: str) -> Iterator["Databases"]:
    from switchyard.testing.databases import Databases  # noqa: PLC0415 - only where it is used

    with Databases(switchyard_server) as databases:
        yield databases


@pytest.fixture
def switchyard_url(_switchyard_databases: "Databases") -> Iterator[str]:
    """The URL of a fresh, migrated database."""
    with _switchyard_databases.copy() as url:
        yield url


@pytest.fixture
def switchyard_config(pytestconfig: pytest.Config) -> Configured:
    """The configuration: the file that the ini option names, else none."""
    named = pytestconfig.getini("switchyard_config")
    return pytestconfig.rootpath / named if named else {}


@pytest.fixture
def yard(switchyard_url: str, switchyard_config: Configured, tmp_path: Path) -> Iterator["InProcessYard"]:
    """A client on the test's own database that also runs actions in this process."""
    from switchyard.testing.yard import InProcessYard  # noqa: PLC0415 - only where it is used

    config = _loaded(switchyard_config, switchyard_url, tmp_path / "switchyard-store")
    with InProcessYard(switchyard_url, config) as made:
        yield made


def _loaded(configured: Configured, url: str, store: Path) -> "Config":
    from switchyard.config.document import Document, read_document  # noqa: PLC0415 - only where it is used
    from switchyard.config.load import examine  # noqa: PLC0415
    from switchyard.config.problems import InvalidConfig  # noqa: PLC0415

    if isinstance(configured, Mapping):
        document, folder = Document("switchyard_config", dict(configured)), Path()
    else:
        document, folder = read_document(Path(configured)), Path(configured).parent
    store.mkdir(exist_ok=True)
    flags = {"database.url": url, "store": store.as_uri()}
    config, problems = examine(document, os.environ, flags, folder)
    if config is None:
        raise InvalidConfig(problems)
    return config
