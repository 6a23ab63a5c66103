"""Shows the sample and every action that follows from it, live."""

import contextlib
import sys
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from rich.columns import Columns
from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

from switchyard.cli.database import Rows
from switchyard.cli.output import console, local
from switchyard.cli.watch import look, table
from switchyard.ledger.queries import query

MOST = 15


def say(line: str) -> None:
    """Print a line; the terminal may be gone."""
    with contextlib.suppress(OSError):
        print(line, flush=True)


def follow(connection: Rows, root: UUID, check: Callable[[], None]) -> list[dict[str, Any]]:
    """Show them until all have ended; `check` is called between updates and may raise."""
    if sys.stdout.isatty():
        screen = console()
        with Live(console=screen, refresh_per_second=4) as live:
            return _follow(connection, root, check, lambda rows: live.update(_screen(rows, screen.width)))
    said: set[tuple[object, ...]] = set()
    return _follow(connection, root, check, lambda rows: _say(rows, said))


def _follow(
    connection: Rows, root: UUID, check: Callable[[], None], show: Callable[[list[dict[str, Any]]], None]
) -> list[dict[str, Any]]:
    while True:
        check()
        # Asked before the family is: the callbacks appear in the transaction that clears callbacks_due.
        [sample] = connection.execute(query("look", "action"), {"uuid": root}).fetchall()
        family = connection.execute(query("look", "family"), {"uuid": root, "limit": 1000}).fetchall()
        rows = look(connection, [member["action_uuid"] for member in family])
        show(rows)
        if sample["ended_at"] and not sample["callbacks_due"] and all(row["ended_at"] for row in rows):
            return rows
        time.sleep(0.25)


def _screen(rows: list[dict[str, Any]], width: int) -> Group:
    ended = sum(bool(row["ended_at"]) for row in rows)
    head = Columns(
        [
            Text("The sample assessment and its callbacks", style="bold"),
            ProgressBar(total=len(rows), completed=ended, width=20),
            Text(f"{ended} of {len(rows)} ended"),
        ]
    )
    more = [Text(f"… and {len(rows) - MOST} more", style="dim")] if len(rows) > MOST else []
    return Group(head, table(rows[:MOST], width), *more)


def _say(rows: list[dict[str, Any]], said: set[tuple[object, ...]]) -> None:
    for row in rows:
        line = (row["action_uuid"], row["status"], row["run"], row["attempt"])
        if line not in said:
            said.add(line)
            what = row["workflow"] or row["action_name"]
            print(
                local(row["last_update"]),
                row["action_uuid"],
                what,
                row["status"],
                row["error"] or "",
                flush=True,
            )
