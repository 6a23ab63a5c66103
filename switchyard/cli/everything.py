"""What `switchyard up` starts, runs and shows, and how it ends."""

import contextlib
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import typer

from switchyard.cli.database import connected, whole_config
from switchyard.embedded.postgres import EmbeddedPostgres
from switchyard.errors import ConfigError, DatabaseUnavailable
from switchyard.ledger.errors import translated
from switchyard.process.exit import Exit
from switchyard.schedules.apply import apply_schedules
from switchyard.up.folder import Folder, alone, dashboard_port, prepare, write_config
from switchyard.up.programs import Programs, refuse_used_port
from switchyard.up.results import Results, show
from switchyard.up.sample import make_region, submit_sample
from switchyard.up.screen import follow, say
from switchyard.up.stop import Stop

INTERRUPTED = 130


def run_everything(folder: Path, port: int | None, *, sample: bool, once: bool, again: bool) -> None:
    """Start all programs, perhaps run the sample, and stay unless `once`; raises Exit with the exit code."""
    os.umask(0o077)  # other users must not read what is stored, logged and delivered
    results: Results | None = None
    with _explained(folder), ExitStack() as stack:
        place = prepare(folder)
        stack.enter_context(alone(place))
        try:
            stop = stack.enter_context(Stop())
            dashboard = dashboard_port(os.environ)
            programs, url = _start(stack, place, port, dashboard)
            if sample:
                make_region(place)

            def check() -> None:
                stop.check()
                programs.check()

            settings = whole_config(place.config)
            with connected(settings, url=url) as connection:
                apply_schedules(connection, settings, "switchyard up")
                if sample:
                    uuid = submit_sample(connection, place, again=again)  # type: ignore[arg-type]
                    results = Results(place, uuid, follow(connection, uuid, check))
            if results:
                show(results, dashboard, stays=not once)
            else:
                _ready(place)
            while not once:
                time.sleep(0.5)
                check()
        except KeyboardInterrupt:
            say("Stopping …")
    if once and (results is None or not results.good):
        raise typer.Exit(Exit.FAILURE if results else INTERRUPTED)


def _ready(place: Folder) -> None:
    """Say what to do, when no sample runs."""
    say(f"Ready. Edit {place.config}: conductor and caboose read it again when it changes.")
    say(f"Submit with: switchyard submit -c {place.config} ACTION")
    say("Ctrl-C stops everything.")


def _start(stack: ExitStack, place: Folder, port: int | None, dashboard: int) -> tuple[Programs, str]:
    """Start everything in the order in which it is needed; returns the database's address."""
    from switchyard.ledger import migrate  # noqa: PLC0415 - Alembic takes half a second to import

    receiver = place.port(port)
    refuse_used_port(receiver)
    say(f"Dashboard and HTTP API: http://127.0.0.1:{dashboard}/")
    say(f"All data is stored in {place.path}")
    say("Starting Postgres …")
    postgres = stack.enter_context(EmbeddedPostgres(place.postgres))
    stack.enter_context(_with_its_error(postgres))
    url = postgres.url
    write_config(place, receiver, url)
    migrate.upgrade(url)
    say("Starting conductor, caboose, signalbox and a webhook receiver …")
    programs = stack.enter_context(
        Programs(
            place.logs,
            {
                "SWITCHYARD_DATABASE__URL": url,
                "DATABASE_URL": url,
                "SWITCHYARD_SIGNALBOX__LISTEN__PORT": str(dashboard),
            },
        )
    )
    programs.start("receiver", _receiver(place, receiver))
    for name in ("signalbox", "conductor", "caboose"):
        programs.start(name, (name, "run", "-c", str(place.config)))
    return programs, url


def _receiver(place: Folder, port: int) -> tuple[str, ...]:
    words = {"--port": str(port), "--folder": str(place.deliveries), "--secret": str(place.secret)}
    return ("switchyard.up.receiver", *(word for pair in words.items() for word in pair))


@contextlib.contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Errors of the machine and the database as messages."""
    try:
        yield
    except OSError as error:
        where = error.filename or folder
        raise ConfigError(
            f"cannot write to {where}: {error.strerror}; choose another with --folder"
        ) from error
    except psycopg.Error as error:
        raise translated(error) from error


@contextlib.contextmanager
def _with_its_error(postgres: EmbeddedPostgres) -> Iterator[None]:
    """Report the database's last message if it has ended: it explains more than the broken connection."""
    try:
        yield
    except (DatabaseUnavailable, psycopg.OperationalError) as error:
        if not postgres.running():
            raise postgres.ended() from error
        raise
