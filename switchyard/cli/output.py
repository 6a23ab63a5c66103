"""How commands print: tables that fit the terminal for people, JSON with UTC times for programs."""

import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from rich.console import Console
from rich.table import Table
from rich.text import Text

STYLES = {
    "PENDING": "cyan",
    "QUEUED": "blue",
    "RUNNING": "bold blue",
    "BACKOFF": "yellow",
    "SUCCESSFUL": "green",
    "FAILED": "bold red",
    "TIMED_OUT": "bold red",
    "INVALID": "bold red",
    "RETRIES_EXHAUSTED": "bold red",
    "CANCELED": "magenta",
    "INFO": "dim",
    "running": "green",
    "lost": "bold red",
}


def console() -> Console:
    """As wide as the terminal; wide enough for any line where there is none."""
    width = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 200
    return Console(width=width, highlight=False)


def print_json(value: object) -> None:
    """JSON to standard output."""
    print(json.dumps(value, default=_plain, indent=2, ensure_ascii=False))


def print_rows(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], nothing: str) -> None:
    """A table of these columns (field: heading), or the sentence where there are no rows."""
    if rows:
        console().print(table_of(rows, columns))
    else:
        print(nothing)


def table_of(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> Table:
    """The table; ids are never cut, texts fold."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for field, heading in columns.items():
        fixed = field in {"action_uuid", "what", "status", "worker_id"}
        table.add_column(heading, no_wrap=fixed, overflow="fold")
    for row in rows:
        table.add_row(*(cell(row.get(field)) for field in columns))
    return table


def cell(value: object) -> Text:
    """One value for people: times in their zone, statuses in colour, no control characters."""
    if isinstance(value, datetime):
        return Text(local(value))
    if isinstance(value, float):
        return Text(f"{value:,.1f}")
    text = "" if value is None else str(value)
    return Text(printable(text), style=STYLES.get(text, ""))


def local(time: datetime) -> str:
    """In the reader's zone, to the second."""
    return time.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def printable(text: str) -> str:
    """Without what could drive the terminal: error texts come from strangers."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, UUID):
        return str(value)
    return float(value)  # type: ignore[arg-type]
