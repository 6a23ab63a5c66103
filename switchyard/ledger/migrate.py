"""Bringing a database to the schema of this version, and back.

Alembic keeps the order; what is run are the plain SQL files in `migrations/sql`. All pending ones
run in one transaction under one advisory lock: two that migrate at once do it once, and a failure
leaves nothing half done.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy
from alembic import command, op
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.script.revision import RevisionError
from alembic.util import CommandError

import switchyard
from switchyard.errors import ConfigError
from switchyard.ledger.connect import connect_sync

_PACKAGE = Path(switchyard.__file__).parent
_LOCK = "select pg_advisory_xact_lock(1937204080, 1)"


def folder() -> Path:
    """Where the migrations are: beside the package in a checkout, inside it once installed."""
    inside = _PACKAGE / "migrations"
    # Beside an installed package there may be a folder of this name that is somebody else's.
    return inside if inside.exists() else _PACKAGE.parent / "migrations"


def run_sql(name: str) -> None:
    """Run one of the SQL files as it is; called by the files in `migrations/versions`."""
    text = (folder() / "sql" / name).read_text()
    driver = op.get_bind().connection.driver_connection
    assert driver is not None
    driver.execute(text)


def upgrade(url: str, revision: str = "head") -> None:
    """Apply what is missing, up to that revision."""
    with _configured(url) as config:
        command.upgrade(config, revision)


def downgrade(url: str, revision: str = "base") -> None:
    """Take back everything above that revision."""
    with _configured(url) as config:
        command.downgrade(config, revision)


def current(url: str) -> str | None:
    """The revision that a database is at; None where it has none."""
    with _connected(url) as connection:
        return MigrationContext.configure(
            connection, opts={"version_table": "migration", "version_table_schema": "public"}
        ).get_current_revision()


def newest() -> str | None:
    """The revision of this version of the code."""
    return ScriptDirectory(str(folder())).get_current_head()


def pending(url: str) -> list[tuple[str, str]]:
    """The revisions that `upgrade` would run, oldest first, each with its name."""
    script = ScriptDirectory(str(folder()))
    with _known():
        steps = list(script.iterate_revisions("head", current(url) or "base"))
    return [(step.revision, Path(step.path).stem) for step in reversed(steps)]


@contextmanager
def _configured(url: str) -> Iterator[Config]:
    with _known(), _connected(url) as connection, connection.begin():
        connection.exec_driver_sql(_LOCK)
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(folder()).replace("%", "%%"))
        yield config


@contextmanager
def _known() -> Iterator[None]:
    """A revision that this version does not have: a typo, or a newer version migrated the database."""
    try:
        yield
    except (CommandError, RevisionError) as error:
        raise ConfigError(f"{error}; this version goes up to {newest()}") from error


@contextmanager
def _connected(url: str) -> Iterator[sqlalchemy.Connection]:
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://",
        creator=lambda: connect_sync(url, application_name="switchyard migrate", statement_timeout="0"),
        poolclass=sqlalchemy.NullPool,
    )
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()
