"""Migrates a database to the schema of this version, and back.

The numbered files in `migrations/sql` hold tables, types and indexes; Alembic runs those that are missing.
The files in `migrations/current` hold functions, views, triggers and grants as this version has them; every
`upgrade` applies what differs (definitions.py). A new ledger is made in one transaction. One in use is
brought to this version in several, each numbered file and then all of `current`, so that a table is locked
only while its own file runs. Every transaction takes one advisory lock and checks the state again: two
concurrent migrations apply everything once, and the next run continues after a failure. If a needed lock is
taken, the transaction gives up at once and is retried, so that no other statement queues behind it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psycopg
import sqlalchemy
from alembic import command, op
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory
from alembic.script.revision import RevisionError
from alembic.util import CommandError

import switchyard
from switchyard.errors import ConfigError
from switchyard.ledger import definitions
from switchyard.ledger.connect import connect_sync
from switchyard.ledger.queries import query
from switchyard.ledger.rights import Rights, rights
from switchyard.process.log import get_logger

_PACKAGE = Path(switchyard.__file__).parent
log = get_logger(__name__)

_TRIES = 60
_PAUSE = 1.0  # seconds


def folder() -> Path:
    """Where the migrations are: beside the package in a checkout, inside it once installed."""
    inside = _PACKAGE / "migrations"
    # Beside an installed package there may be a folder of this name that is somebody else's.
    return inside if inside.exists() else _PACKAGE.parent / "migrations"


def run_sql(name: str) -> None:
    """Run one of the numbered SQL files as it is; called by the files in `migrations/versions`."""
    _driver(op.get_bind()).execute((folder() / "sql" / name).read_bytes())


def upgrade(url: str) -> None:
    """Run the numbered files that are missing, and apply what differs of `migrations/current`."""
    at = current(url)
    for step in _after(at) if at else []:
        _patiently(url, partial(_run_numbered, step.revision))
    _patiently(url, _run_all)


def _run_numbered(revision: str, _: sqlalchemy.Connection, config: Config) -> None:
    command.upgrade(config, revision)


def _run_all(connection: sqlalchemy.Connection, config: Config) -> None:
    command.upgrade(config, "head")
    definitions.apply(_driver(connection), _current())


def _patiently(url: str, run: Callable[[sqlalchemy.Connection, Config], None]) -> None:
    """Run this in a transaction; retry it if a lock that it needs is taken."""
    for tries in range(1, _TRIES + 1):
        try:
            with _migrating(url) as (connection, config):
                run(connection, config)
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected) as error:
            if tries == _TRIES:
                raise
            log.warning(
                "somebody holds what is to be changed: tries again", error=str(error), again_in=_PAUSE
            )
            time.sleep(_PAUSE)
        else:
            return


def missing_rights(url: str) -> Rights:
    """The rights that this user lacks for `upgrade`."""
    with _connected(url) as connection:
        return rights(_driver(connection))


def script(since: str | None = None) -> str:
    """The migrations as one SQL script, for users who run them with their own tools.

    `since`: the revision that the database is at; without it, none.
    """
    begin, end = ["begin;", query("migrate", "lock")], ["commit;"]
    between = [*end, *begin] if since else []
    numbered = [
        part
        for step in _after(since)
        for part in (_text(folder() / "sql" / f"{_stem(step)}.up.sql"), _stamp(step, since), *between)
    ]
    applied = query("migrate", "apply").replace("%(definitions)s", f"'{definitions.fingerprint(_current())}'")
    parts = [*begin, *numbered, *map(_text, definitions.files(_current())), applied, *end]
    return "".join(f"{part.strip().removesuffix(';')};\n\n" for part in parts)


def _text(file: Path) -> str:
    return f"-- {file.name}\n{file.read_text()}"


def _stamp(step: Script, since: str | None) -> str:
    """Record the revision as Alembic does after a step."""
    new = query("migrate", "revisions") + ";\n" if since is None and step.down_revision is None else ""
    return new + query("migrate", "stamp").replace("%(revision)s", f"'{step.revision}'")


def downgrade(url: str, revision: str = "base") -> None:
    """Take back the numbered files above that revision; functions come back with that version's `upgrade`."""
    with _migrating(url) as (_, config):
        command.downgrade(config, revision)


def current(url: str) -> str | None:
    """The revision that a database is at; None where it has none."""
    with _connected(url) as connection:
        return _revision(connection)


def newest() -> str | None:
    """The revision of this version of the code."""
    return ScriptDirectory(str(folder())).get_current_head()


def pending(url: str) -> list[str]:
    """What `upgrade` would change: numbered files, oldest first, and `current` where its files differ."""
    with _connected(url) as connection:
        at = _revision(connection)
        applied = _driver(connection).execute(query("migrate", "applied")).fetchone() if at else None
    differs = applied is None or applied[0] != definitions.fingerprint(_current())
    return [*(_stem(step) for step in _after(at)), *(["current"] if differs else [])]


def _after(revision: str | None) -> list[Script]:
    """The numbered steps that a database at that revision lacks, oldest first."""
    with _known():
        return [*ScriptDirectory(str(folder())).iterate_revisions("head", revision or "base")][::-1]


def _stem(step: Script) -> str:
    return Path(step.path).stem


def _current() -> Path:
    return folder() / "current"


def _revision(connection: sqlalchemy.Connection) -> str | None:
    return MigrationContext.configure(
        connection, opts={"version_table": "migration", "version_table_schema": "public"}
    ).get_current_revision()


def _driver(connection: sqlalchemy.Connection) -> psycopg.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver


@contextmanager
def _migrating(url: str) -> Iterator[tuple[sqlalchemy.Connection, Config]]:
    with _known(), _connected(url) as connection, connection.begin():
        _driver(connection).execute(query("migrate", "lock"))
        definitions.wait_at_most(_driver(connection), definitions.PATIENCE)
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(folder()).replace("%", "%%"))
        yield connection, config


@contextmanager
def _known() -> Iterator[None]:
    """Raise if this version lacks the revision: a typo, or a newer version migrated the database."""
    try:
        yield
    except (CommandError, RevisionError) as error:
        raise ConfigError(f"{error}; this version goes up to {newest()}") from error


@contextmanager
def _connected(url: str) -> Iterator[sqlalchemy.Connection]:
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: _transactional(url), poolclass=sqlalchemy.NullPool
    )
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _transactional(url: str) -> psycopg.Connection:
    """A connection without autocommit, because SQLAlchemy's transactions would have no effect in it."""
    connection = connect_sync(url, application_name="switchyard migrate", statement_timeout="0")
    connection.autocommit = False
    return connection
