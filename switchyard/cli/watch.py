"""`switchyard watch`: actions as they go, until all of them have ended or Ctrl-C."""

import sys
import time
from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from switchyard.cli.database import Rows, connected
from switchyard.cli.filters import identifier
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import cell, console, print_json
from switchyard.errors import BadInput
from switchyard.ledger.queries import query
from switchyard.process.exit import Exit


def watch(
    uuids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ACTION", help="Ids; without any, the newest actions.", show_default=False),
    ] = None,
    config: ConfigFile = None,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between looks.")] = 0.5,
    as_json: AsJson = False,
) -> None:
    """Follow actions live; with ids, until all have ended (exit 1 if one did without success).

    Example: switchyard watch $(switchyard submit --workflow nutrient -p @input.json)
    """
    wanted = [identifier(uuid) for uuid in uuids or []]
    with connected(config) as connection:
        try:
            rows = (
                _lines(connection, wanted, every, as_json)
                if as_json or not sys.stdout.isatty()
                else _live(connection, wanted, every)
            )
        except KeyboardInterrupt:
            raise typer.Exit(Exit.OK) from None
    if any(row["status"] != "SUCCESSFUL" for row in rows):
        raise typer.Exit(Exit.FAILURE)


def look(connection: Rows, wanted: Sequence[UUID], limit: int = 20) -> list[dict[str, Any]]:
    """Those actions, or the newest, each with its last progress."""
    uuids = list(wanted)
    if not uuids:
        newest = connection.execute(query("look", "newest"), {"limit": limit}).fetchall()
        uuids = [row["action_uuid"] for row in newest]
    rows = connection.execute(query("look", "progress"), {"uuids": uuids}).fetchall()
    if missing := set(wanted) - {row["action_uuid"] for row in rows}:
        raise BadInput(f"there is no action {missing.pop()}")
    return rows


def table(rows: Sequence[dict[str, Any]]) -> Table:
    """One row an action: its state, attempts, and those columns that say something, so that it fits."""
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    columns: dict[str, list[RenderableType]] = {
        "action": [str(row["action_uuid"]) for row in rows],
        "what": [row["workflow"] or row["action_name"] for row in rows],
        "status": [cell(row["status"]) for row in rows],
        "run": [str(row["run"]) if row["run"] > 1 else "" for row in rows],
        "attempt": [str(row["attempt"]) for row in rows],
        "progress": [_bar(row) for row in rows],
        "callbacks": [str(row["callbacks"] or "") for row in rows],
        "error": [cell(row["error"] or row["note"]) for row in rows],
    }
    told = {heading: cells for heading, cells in columns.items() if any(cells)}
    for heading in told:
        shown.add_column(heading, no_wrap=heading not in {"what", "error"}, overflow="fold")
    for cells in zip(*told.values(), strict=True):
        shown.add_row(*cells)
    return shown


def _bar(row: dict[str, Any]) -> RenderableType:
    """For what told its progress; what ended well has come to its end."""
    done = (row["detail"] or {}).get("progress")
    if done is None or row["status"] not in {"RUNNING", "SUCCESSFUL"}:
        return ""
    return ProgressBar(total=1, completed=1 if row["status"] == "SUCCESSFUL" else float(done), width=10)


def _ended(rows: Sequence[dict[str, Any]], wanted: Sequence[UUID]) -> bool:
    return bool(wanted) and all(row["ended_at"] for row in rows)


def _live(connection: Rows, wanted: Sequence[UUID], every: float) -> list[dict[str, Any]]:
    with Live(console=console(), refresh_per_second=4) as live:
        while True:
            rows = look(connection, wanted)
            live.update(Group(table(rows), Text("Ctrl-C ends the view, not the work.", style="dim")))
            if _ended(rows, wanted):
                return rows
            time.sleep(every)


def _lines(connection: Rows, wanted: Sequence[UUID], every: float, as_json: bool) -> list[dict[str, Any]]:
    """A line whenever something changed, for logs and programs."""
    seen: dict[UUID, tuple[Any, ...]] = {}
    while True:
        rows = look(connection, wanted)
        for row in rows:
            state = (row["status"], row["run"], row["attempt"], (row["detail"] or {}).get("progress"))
            if seen.get(row["action_uuid"]) != state:
                seen[row["action_uuid"]] = state
                print_json(row) if as_json else print(
                    row["action_uuid"], *(str(part) for part in state if part is not None), flush=True
                )
        sys.stdout.flush()
        if _ended(rows, wanted):
            return rows
        time.sleep(every)
