"""How commands print: JSON with UTC times for programs; colours, local times and safe text for people."""

import json
import shutil
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from rich.console import Console
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


def console() -> "Console":
    """The console: as wide as the terminal; without one, wide enough for any line."""
    from rich.console import Console  # noqa: PLC0415 - a fifth of a help text's time

    return Console(width=terminal_width() or 200, highlight=False)


def terminal_width() -> int | None:
    """The columns of the terminal; None where output goes to a file or a program."""
    return shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else None


def print_json(value: object) -> None:
    """JSON to standard output; a list with one line per item, so that many rows are written quickly."""
    if isinstance(value, list):
        print_json_list(value)
    else:
        print(json.dumps(value, default=_plain, indent=2))


def print_json_list(rows: Iterable[object]) -> None:
    """A JSON list, written as the rows come."""
    before = "["
    for row in rows:
        sys.stdout.write(f"{before}\n{json_line(row)}")
        before = ","
    print("[]" if before == "[" else "\n]")


def json_line(value: object) -> str:
    """One line of JSON in ASCII, so that untrusted text cannot control a terminal."""
    return json.dumps(value, default=_plain)


def cell(value: object) -> "Text":
    """One value for people."""
    from rich.text import Text  # noqa: PLC0415 - as above

    text = as_text(value)
    return Text(text, style=STYLES.get(text, ""))


def as_text(value: object) -> str:
    """Times in the reader's zone, containers as JSON, no control characters."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return local(value)
    if isinstance(value, float):
        return f"{value:,.1f}"
    if isinstance(value, dict | list):
        return printable(json.dumps(value, ensure_ascii=False, default=_plain))
    return printable(str(value))


def local(time: datetime | str) -> str:
    """In the reader's zone, to the second, with the zone."""
    return time if isinstance(time, str) else f"{_zoned(time):%Y-%m-%d %H:%M:%S %Z}"


def local_short(time: datetime, now: datetime) -> str:
    """As short as possible: the time of a moment of today, the day and time of this year, else the date."""
    there = _zoned(time)
    if there.date() == now.date():
        return f"{there:%H:%M:%S}"
    return f"{there:%d %b %H:%M}" if there.year == now.year else f"{there:%Y-%m-%d}"


def _zoned(time: datetime) -> datetime:
    try:
        return time.astimezone()
    except OverflowError:  # the first or last hours that Python has
        return time


def printable(text: str) -> str:
    """The text without terminal control characters: names and error texts are untrusted."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def _plain(value: Any) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, UUID):
        return str(value)
    return float(value)
