"""A campaign in words, and as a live screen with a progress bar."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from switchyard.cli.output import as_text, console, printable
from switchyard.cli.table import print_table

EVERY = 0.5
WIDTH = 60


def described(row: dict[str, Any]) -> list[str]:
    """One campaign in a few lines."""
    what = f"workflow {row['workflow']}" if row["workflow"] else f"action {row['action_name']}"
    done = row["successful"] + row["unsuccessful"]
    lines = [
        f"{row['name']}: {what}, {row['status']}, {row['action_uuid']}",
        f"{done:,} of {row['items']:,} items done, {row['unsuccessful']:,} of them without success.",
        f"{row['open']:,} open (at most {row['in_flight']:,}), {row['waiting']:,} wait.",
    ]
    if not row["complete"]:
        lines.append("The source was not read completely: run the same `campaign start` again to continue.")
    if row["repeated"] or row["rejected"]:
        lines.append(
            f"The source gave {row['repeated']:,} items again, and {row['rejected']:,} without an id."
        )
    if row["source_error"]:
        lines.append(f"Problem: {row['source_error']}")
    if row["paused_at"] and not row["ended_at"]:
        lines.append(f"Paused by {row['paused_by']} at {as_text(row['paused_at'])}: {row['paused_because']}")
    if not row["ended_at"]:
        lines.append(pace(row))
    return lines


def print_campaigns(rows: list[dict[str, Any]]) -> None:
    """Print campaigns and how far each is."""
    for row in rows:
        row["what"] = row["workflow"] or row["action_name"]
        row["state"] = "paused" if row["paused_at"] and not row["ended_at"] else row["status"]
    fields = "name what state items waiting open successful unsuccessful=failed created_at=started"
    print_table(rows, fields, "There are no campaigns: `switchyard campaign start` begins one.")


def print_campaign(row: dict[str, Any], failures: list[dict[str, Any]]) -> None:
    """Print one campaign, and its failures by cause."""
    for line in described(row):
        print(printable(line))
    if failures:
        print()
        print_table(failures, "failures cause example", "")


def pace(row: dict[str, Any]) -> str:
    """The rate of the last minutes, and the time left at that rate."""
    if row["successful"] + row["unsuccessful"] == 0:
        return "Nothing has ended yet."
    if not row["per_second"]:
        return "Nothing has ended in the last 5 minutes."
    left = _span(row["seconds_left"]) if row["complete"] else "unknown while the source is read"
    return f"{row['per_second']:.1f} items a second; time left: {left}."


def live(read: Callable[[], dict[str, Any]]) -> None:
    """Show the screen until the campaign has ended or Ctrl-C is pressed; then clear it."""
    with (
        suppress(KeyboardInterrupt),
        Live(console=console(), refresh_per_second=4, transient=True) as screen,
    ):
        while (row := read())["ended_at"] is None:
            screen.update(_screen(row))
            time.sleep(EVERY)


def _screen(row: dict[str, Any]) -> Group:
    done = row["successful"] + row["unsuccessful"]
    share = f"{100 * done // row['items'] if row['items'] else 0} %"  # 100 % only once all are done
    style = "yellow" if row["unsuccessful"] else "green"
    bar = Table.grid(padding=(0, 1))
    bar.add_row(
        ProgressBar(
            total=max(1, row["items"]),
            completed=done,
            width=WIDTH,
            complete_style=style,
            finished_style=style,
        ),
        Text(share),
    )
    name, *rest = (Text(printable(line), no_wrap=True, overflow="ellipsis") for line in described(row))
    return Group(name, bar, *rest, Text("Ctrl-C ends the view, not the campaign.", style="dim"))


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
