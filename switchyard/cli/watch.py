"""`switchyard watch`."""

import sys
import time
from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Group
from rich.live import Live
from rich.text import Text

from switchyard.cli.database import Rows, configured, connected
from switchyard.cli.ids import identified
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import console, json_line
from switchyard.cli.table import table_text
from switchyard.errors import BadInput
from switchyard.ledger.queries import query
from switchyard.process.exit import Exit

BAR = 10


def watch(
    uuids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ACTION", help="Ids; by default, the newest actions.", show_default=False),
    ] = None,
    config: ConfigFile = None,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two queries.")] = 0.5,
    as_json: AsJson = False,
) -> None:
    """Follow actions live; with ids, until all have ended (exit 1 if one ended without success).

    Example: switchyard watch $(switchyard submit --workflow nutrient -p @input.json)
    """
    with connected(configured(config)) as connection:
        wanted = [identified(connection, uuid) for uuid in uuids or []]
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
    """The given actions, or the newest ones, each with its last progress."""
    uuids = list(wanted)
    if not uuids:
        newest = connection.execute(query("look", "newest"), {"limit": limit}).fetchall()
        uuids = [row["action_uuid"] for row in newest]
    rows = connection.execute(query("look", "progress"), {"uuids": uuids}).fetchall()
    if missing := set(wanted) - {row["action_uuid"] for row in rows}:
        raise BadInput(f"there is no action {missing.pop()}")
    return rows


def table(rows: Sequence[dict[str, Any]], width: int) -> Text:
    """One line per action: its state, attempts, progress and error."""
    shown = [
        dict(
            row,
            what=row["workflow"] or row["action_name"],
            run=row["run"] if row["run"] > 1 else None,
            progress=_bar(row),
            callbacks=row["callbacks"] or None,
            error=row["error"] or row["note"],
        )
        for row in rows
    ]
    return table_text(shown, "action_uuid=action what status run attempt progress callbacks error", width)


def _bar(row: dict[str, Any]) -> str | None:
    """For an action that reported its progress; a successful one is complete."""
    done = _progress(row)
    if done is None or row["status"] not in {"RUNNING", "SUCCESSFUL"}:
        return None
    full = BAR if row["status"] == "SUCCESSFUL" else round(BAR * min(max(done, 0.0), 1.0))
    return "━" * full + "─" * (BAR - full)


def _progress(row: dict[str, Any]) -> float | None:
    detail = row["detail"]
    try:
        return float(detail["progress"]) if isinstance(detail, dict) else None
    except (TypeError, ValueError, OverflowError, KeyError):
        return None


def _ended(rows: Sequence[dict[str, Any]], wanted: Sequence[UUID]) -> bool:
    return bool(wanted) and all(row["ended_at"] for row in rows)


def _live(connection: Rows, wanted: Sequence[UUID], every: float) -> list[dict[str, Any]]:
    screen = console()
    with Live(console=screen, refresh_per_second=4) as live:
        while True:
            rows = look(connection, wanted)
            live.update(
                Group(table(rows, screen.width), Text("Ctrl-C ends the view, not the work.", style="dim"))
            )
            if _ended(rows, wanted):
                return rows
            time.sleep(every)


def _lines(connection: Rows, wanted: Sequence[UUID], every: float, as_json: bool) -> list[dict[str, Any]]:
    """One line for each change, for logs and programs."""
    seen: dict[UUID, tuple[Any, ...]] = {}
    while True:
        rows = look(connection, wanted)
        for row in rows:
            state = (row["status"], row["run"], row["attempt"], _progress(row))
            if seen.get(row["action_uuid"]) != state:
                seen[row["action_uuid"]] = state
                words = (row["action_uuid"], *(part for part in state if part is not None))
                print(json_line(row) if as_json else " ".join(map(str, words)), flush=True)
        sys.stdout.flush()
        if _ended(rows, wanted):
            return rows
        time.sleep(every)
