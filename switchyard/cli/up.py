"""`switchyard up`: everything on one machine, with a sample assessment from submit to delivered callbacks."""

import signal
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from switchyard.cli.database import connected
from switchyard.embedded import EmbeddedPostgres
from switchyard.errors import SwitchyardError
from switchyard.runtime.exit import Exit
from switchyard.up.folder import Folder, prepare, write_config
from switchyard.up.programs import Programs, refuse_used_port
from switchyard.up.sample import make_region, submit_sample
from switchyard.up.screen import follow


def up(
    folder: Annotated[
        Path, typer.Option(help="Where everything is kept; a second start goes on with it.")
    ] = Path("switchyard-up"),
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="The webhook receiver's; by default a free one.", show_default=False
        ),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Stop when the sample and its callbacks are done.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Run the sample again, though it ran before.")
    ] = False,
) -> None:
    """Start Postgres, conductor, caboose and a webhook receiver; run the sample; stay until Ctrl-C.

    Example: switchyard up --once
    """
    place, chosen = prepare(folder, port)
    refuse_used_port(chosen)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with ExitStack() as stack:
        print(f"Everything is kept in {place.path}", flush=True)
        url = stack.enter_context(EmbeddedPostgres(place.postgres)).url
        write_config(place, chosen, url)
        programs = stack.enter_context(
            Programs(place.logs, {"SWITCHYARD_DATABASE__URL": url, "DATABASE_URL": url})
        )
        rows = _run(place, programs, url, chosen, stop, again)
        if not once:
            print("\nStill running; Ctrl-C stops everything.", flush=True)
            while not stop.wait(0.5):
                programs.check()
        print("Stopping …", flush=True)
    if once and any(row["status"] != "SUCCESSFUL" for row in rows):
        raise typer.Exit(Exit.FAILURE)


def _run(
    place: Folder, programs: Programs, url: str, port: int, stop: threading.Event, again: bool
) -> list[dict[str, Any]]:
    """Migrate, start, submit, follow, and tell where the results are."""
    from switchyard.ledger import migrate  # noqa: PLC0415 - Alembic takes half a second to import

    migrate.upgrade(url)
    config = ("-c", str(place.config))
    programs.start("receiver", _receiver(place, port))
    programs.start("conductor", ("conductor", "run", *config))
    programs.start("caboose", ("caboose", "run", *config))
    make_region(place)

    def check() -> None:
        programs.check()
        if stop.is_set():
            raise KeyboardInterrupt

    with connected(place.config, url=url) as connection:
        uuid = submit_sample(connection, place, again=again)  # type: ignore[arg-type]
        try:
            rows = follow(connection, uuid, check)
        except KeyboardInterrupt:
            return []
    _tell(place, uuid, rows)
    return rows


def _receiver(place: Folder, port: int) -> tuple[str, ...]:
    words = {"--port": str(port), "--folder": str(place.deliveries), "--secret": str(place.secret)}
    return ("switchyard.up.receiver", *(word for pair in words.items() for word in pair))


def _tell(place: Folder, uuid: UUID, rows: list[dict[str, Any]]) -> None:
    """Where what was made is; an error where something is said that is not there."""
    outputs = place.store / "executions" / str(uuid) / "r1"
    delivered = {path.stem for path in place.deliveries.glob("*.json")}
    callbacks = [row for row in rows if row["action_uuid"] != uuid]
    print(f"\nThe assessment is {next(row['status'] for row in rows if row['action_uuid'] == uuid)}.")
    print(f"  report and map   {outputs / 'report.html'}")
    print(f"  results          {outputs}")
    arrived = sum(str(row["action_uuid"]) in delivered for row in callbacks)
    print(f"  callbacks        {arrived} of {len(callbacks)} delivered and signed, in {place.deliveries}")
    print(f"  logs             {place.logs}")
    print(f"\nLook around: SWITCHYARD_CONFIG={place.config} switchyard show {uuid}")
    if not (outputs / "report.html").exists() and any(row["status"] == "SUCCESSFUL" for row in rows):
        raise SwitchyardError(f"the assessment ended, but {outputs / 'report.html'} is not there")
